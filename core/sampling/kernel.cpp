namespace bunraku::BUNRAKU_LEVEL {}
