"""Sections that reports of all kinds of jobs have."""

from __future__ import annotations

from greenroom.reports.shared_sections import provenance
from tests.store.samples import sample_run


def test_the_provenance_names_what_a_pack_tells_and_nothing_else() -> None:
    pack = {"name": "shop", "notes": [], "caveats": ["few tasks", "no images"], "commit": ""}
    told = {fact.label: fact.value for fact in provenance(sample_run(), pack=pack).facts}
    assert (told["Pack name"], told["Pack caveats"]) == ("shop", "few tasks; no images")
    assert not told.keys() & {"Pack notes", "Pack commit"}
