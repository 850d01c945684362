"""What a licence allows, in notes."""

from __future__ import annotations

import pytest

from tests.formats.vrm.figures import figure_0, figure_1, read


def licence(character) -> list[str]:
    return [f"{n.code}: {n.message}" for n in character.notes if n.code.startswith("licence")]


def test_licence_of_1_0_forbids_what_it_does_not_say():
    assert licence(read(figure_1())) == [
        "licence-redistribution: prohibited; licenseUrl https://vrm.dev/licenses/1.0/",
        "licence-modification: prohibited",
        "licence-usage: avatar: onlyAuthor, commercial: personalNonProfit, credit: required,"
        " violent: prohibited, sexual: prohibited, political or religious: prohibited,"
        " antisocial or hate: prohibited",
    ]
    allowed = {"allowRedistribution": True, "modification": "allowModificationRedistribution"}
    first, second, _ = licence(read(figure_1(meta=allowed)))
    assert (first, second) == (
        "licence-redistribution: allowed",
        "licence-modification: allowModificationRedistribution",
    )


def test_licence_of_0_x():
    assert licence(read(figure_0())) == [
        "licence-redistribution: as the licence says; licenseName CC_BY_ND",
        "licence-modification: prohibited; licenseName CC_BY_ND",
        "licence-usage: avatar: Everyone, commercial: not stated, violent: not stated,"
        " sexual: not stated",
    ]
    kept = licence(read(figure_0(meta={"licenseName": "Redistribution_Prohibited"})))
    assert kept[0] == "licence-redistribution: prohibited; licenseName Redistribution_Prohibited"


@pytest.mark.parametrize("meta", [None, [], "free"])
def test_a_licence_that_cannot_be_read_is_said_to_be_missing(meta):
    assert [c.split(":")[0] for c in licence(read(figure_1(meta=meta)))] == ["licence-missing"]
