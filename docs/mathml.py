"""Formulas as MathML: converted while the pages are built, drawn by the browser alone.

MathJax and KaTeX would have to be fetched by the reader's browser or copied into the repository;
MathML needs neither, and every current browser draws it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from math_core import LatexToMathML

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

# fancy_error=False: a formula that cannot be converted stops the build with one plain line.
CONVERTER = LatexToMathML(fancy_error=False)


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    formula = CONVERTER.convert_with_local_state(node.astext(), displaystyle=False)
    translator.body.append(f'<span class="math">{formula}</span>')
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    formula = CONVERTER.convert_with_local_state(node.astext(), displaystyle=True)
    translator.body.append(f'<div class="math">{formula}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer; `html_math_renderer = "mathml"` chooses it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
