"""The knowledge base: BM25 by its formula, grep, search by meaning, and searches as plug-ins."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.domain import load_domain
from greenroom.domains.tasks import Action, InitialState, Task
from greenroom.domains.tau2.banking import BankingSettings, grep
from greenroom.domains.tau2.banking.bm25 import Bm25
from greenroom.domains.tau2.banking.knowledge import (
    DOCUMENTS,
    documents_of,
    grep_text,
)
from greenroom.domains.tau2.banking.retrieval import retrieval_named
from greenroom.domains.world import Base, World
from greenroom.errors import DataError, UnknownName
from greenroom.util import embeddings
from tests.domains.tau2.banking_play import BANK, DATA, bank

_HIT = re.compile(r"^\d+\. (.*)\n   ID: (.*)\n   Score: (.*)$", re.MULTILINE)


def expected_scores(texts: Sequence[str], query: str) -> list[float]:
    """Okapi BM25, word by word from its definition."""
    corpus = [text.lower().split() for text in texts]
    vocabulary = dict.fromkeys(word for words in corpus for word in words)
    holding = {word: sum(word in words for words in corpus) for word in vocabulary}
    rare = {word: math.log(len(texts) - n + 0.5) - math.log(n + 0.5) for word, n in holding.items()}
    lowest = 0.25 * sum(rare.values()) / len(rare) if rare else 0
    mean = sum(map(len, corpus)) / len(corpus)
    scores: list[float] = []
    for words in corpus:
        score = 0.0
        for word in query.lower().split():
            if (times := words.count(word)) == 0:
                continue
            weight = lowest if rare[word] < 0 else rare[word]
            score += weight * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * len(words) / mean))
        scores.append(score)
    return scores


_words = st.lists(st.sampled_from(["fee", "Fee", "card", "the", "loan", "apy"]), max_size=8)


@given(st.lists(_words, min_size=1, max_size=8), _words)
def test_scores_are_those_of_okapi_bm25(texts: list[list[str]], query: list[str]) -> None:
    corpus = [" ".join(words) for words in texts]
    found = Bm25(corpus).scores(" ".join(query))
    assert found == pytest.approx(expected_scores(corpus, " ".join(query)))


def test_no_documents_are_no_error() -> None:
    assert Bm25([]).scores("fee") == []


def shelf(*contents: str) -> World:
    documents = {
        f"d{number}": {"title": f"T{number}", "content": content}
        for number, content in enumerate(contents)
    }
    return World(Base({DOCUMENTS: documents}))


@pytest.mark.parametrize(
    ("pattern", "titles"),
    [
        ("FEE", ["T1", "T0", "T3"]),
        ("fee|card", ["T1", "T3", "T0", "T2"]),
        ("fee(", ["T3"]),  # no regular expression, so it is looked for as it stands
        ("loan", []),
        (" ", []),
        ("", []),
    ],
)
def test_grep_ranks_by_matches_and_keeps_the_order_of_documents(
    pattern: str, titles: list[str]
) -> None:
    text = grep_text(shelf("a fee", "fee, Fee", "card", "a card, fee(", "no"), pattern)
    assert [title for title, _, _ in _HIT.findall(text)] == titles
    if not titles:
        assert text == f"No matches found for pattern: {pattern}"


def ask(retrieval: str, tool: str, **arguments: object) -> str:
    domain = bank(retrieval)
    return domain.call(domain.worlds(), Action(tool, arguments)).observation


@pytest.mark.tau2_data
def test_a_search_shows_ten_documents_also_where_nothing_fits() -> None:
    hits = _HIT.findall(ask("bm25", "KB_search", query="xyzzy"))
    assert [score for _, _, score in hits] == ["0.0000"] * 10
    first = sorted(path.stem for path in (BANK / "documents").iterdir())[:10]
    assert [key for _, key, _ in hits] == first
    nothing = "No relevant documents found.\n\n[Timing: retrieval=0ms, total=0ms]"
    assert ask("bm25", "KB_search", query=" \n") == nothing


@pytest.mark.tau2_data
def test_a_number_shortens_the_list_and_never_lengthens_it() -> None:
    def count(**arguments: object) -> int:
        return len(_HIT.findall(ask("alltools", "KB_search_bm25", query="card", **arguments)))

    assert (count(), count(k=3), count(k=50), count(k=None), count(k=0)) == (10, 3, 10, 10, 0)


@pytest.mark.slow
@pytest.mark.tau2_data
def test_the_index_is_made_once_for_all_episodes() -> None:
    base = bank("bm25_grep").pack.base
    ask("bm25_grep", "KB_search", query="card")
    known = dict(base._derived)  # pyright: ignore[reportPrivateUsage]
    for _ in range(3):
        ask("bm25_grep", "KB_search", query="fee")
    assert base._derived == known  # pyright: ignore[reportPrivateUsage]


@pytest.mark.slow
@pytest.mark.tau2_data
def test_meaning_finds_what_words_miss() -> None:
    pytest.importorskip("wordllama")
    hits = _HIT.findall(ask("semantic", "KB_search", query="my plastic was pinched by a thief"))
    assert any("Lost/Stolen" in title for title, _, _ in hits)
    scores = [float(score) for _, _, score in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == 10
    names = [info["function"]["name"] for info in bank("semantic").tool_infos]
    assert names[:2] == ["KB_search", "grep"]
    assert "`KB_search` and `grep`" in bank("semantic").policy


def test_a_search_that_lacks_its_package_says_so_before_anything_is_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embeddings.import_wordllama.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(Exception, match=r"pip install 'greenroom\[semantic\]'"):
        retrieval_named("semantic")
    embeddings.import_wordllama.cache_clear()


PLUGIN = """
from greenroom.domains.tau2.banking import Hit, KnowledgeSearch


def index(documents):
    ranked = sorted(documents, key=lambda document: len(document.content))
    return lambda query: [Hit(document, 1.0) for document in ranked]


shortest = KnowledgeSearch("shortest", index)
"""


@pytest.mark.tau2_data
def test_a_search_of_ones_own_is_named_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(PLUGIN)
    data = DATA.resolve()
    monkeypatch.chdir(tmp_path)
    # A run that is resumed from another folder finds it, too.
    kept = BankingSettings(retrieval="mine.py:shortest").retrieval
    assert kept == f"{tmp_path / 'mine.py'}:shortest"
    domain = load_domain("banking_knowledge", data, {"retrieval": kept})
    answer = domain.call(domain.worlds(), Action("KB_search", {"query": "card"})).observation
    shortest = sorted(documents_of(domain.pack.base), key=lambda document: len(document.content))
    expected = [(document.title, document.id, "1.0000") for document in shortest[:10]]
    assert _HIT.findall(answer) == expected
    # A change to the file is a change to the tools, so that runs with it are not the same.
    (tmp_path / "mine.py").write_text(f"{PLUGIN}\n# tuned\n")
    changed = load_domain("banking_knowledge", data, {"retrieval": kept})
    usual = load_domain("banking_knowledge", data)
    tools = [one.pack.hashes.parts["tools"] for one in (domain, changed, usual)]
    assert len(set(tools)) == 3


def test_an_unknown_retrieval_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'bm25_grep'") as error:
        retrieval_named("bm25_gerp")
    assert {"full_kb", "semantic", "no_knowledge"} <= set(error.value.known)


def test_a_pack_without_prompts_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "banking_knowledge"
    folder.mkdir()
    (folder / "db.json").write_text("{}")
    (folder / "tasks.json").write_text("[]")
    with pytest.raises(DataError, match=r"discoverable_tools\.json is missing"):
        load_domain("banking_knowledge", tmp_path)
    (folder / "discoverable_tools.json").write_text("{}")
    with pytest.raises(DataError, match=r"has no prompts/classic_rag_bm25\.md"):
        load_domain("banking_knowledge", tmp_path)


@pytest.mark.parametrize("retrieval", ["bm25_grep", "full_kb", "golden_retrieval", "grep_only"])
def test_a_pack_without_its_documents_is_played_without_knowledge_only(
    tmp_path: Path, retrieval: str
) -> None:
    folder = tmp_path / "banking_knowledge"
    (folder / "prompts").mkdir(parents=True)
    for name in ("no_knowledge", "classic_rag_bm25", "full_kb", "required_docs", "grep_only"):
        (folder / f"prompts/{name}.md").write_text("Be kind.")
    for name in ("db.json", "discoverable_tools.json"):
        (folder / name).write_text("{}")
    (folder / "tasks.json").write_text("[]")
    with pytest.raises(DataError, match=r"banking_knowledge/documents holds no document"):
        load_domain("banking_knowledge", tmp_path, {"retrieval": retrieval})
    assert load_domain("banking_knowledge", tmp_path, {"retrieval": "no_knowledge"}).policy
    (folder / "documents").mkdir()
    (folder / "documents/a.json").write_text('{"id": "a", "title": "A", "content": "A fee."}')
    assert load_domain("banking_knowledge", tmp_path, {"retrieval": retrieval}).policy


@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("db.json", '{"users": []}', "db.json: 'users' should hold data"),
        ("db.json", '{"users": {"notes": 5}}', "db.json: 'users' should hold data"),
        ("db.json", '{"users": {"data": {"a": 1}}}', "record 'a' should be an object, but is 1"),
        ("discoverable_tools.json", '{"agent": {"x": {}}}', "agent.x.description: Field required"),
        ("discoverable_tools.json", '{"nobody": {}}', "Input should be 'agent' or 'user'"),
        ("documents/a.json", '{"id": "a", "title": "A"}', "content: Field required"),
        ("documents/a.json", "{", "a.json is not valid JSON"),
    ],
)
def test_files_of_strangers_are_refused_with_their_place(
    tmp_path: Path, file: str, content: str, text: str
) -> None:
    folder = tmp_path / "banking_knowledge"
    (folder / "documents").mkdir(parents=True)
    (folder / "prompts").mkdir()
    (folder / "prompts/no_knowledge.md").write_text("Be kind.")
    for name in ("db.json", "discoverable_tools.json"):
        (folder / name).write_text("{}")
    (folder / "tasks.json").write_text("[]")
    assert load_domain("banking_knowledge", tmp_path, {"retrieval": "no_knowledge"}).policy
    (folder / file).write_text(content)
    with pytest.raises(DataError) as error:
        load_domain("banking_knowledge", tmp_path, {"retrieval": "no_knowledge"}).worlds()
    assert text in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.tau2_data
def test_data_of_a_task_that_is_no_table_is_refused() -> None:
    task = Task(id="odd", initial=InitialState(agent_data={"users": {"data": []}}))
    with pytest.raises(
        DataError, match=r"The initial data of odd: users\.data should hold records"
    ):
        bank().worlds(task)
    other = Task(id="odd", initial=InitialState(agent_data={"no table": 5}))
    assert bank().worlds(other).agent.changes() == {}


@pytest.mark.tau2_data
def test_a_pattern_that_would_take_years_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep, "SECONDS", 0.3)
    domain = bank("grep_only")
    pattern = Action("grep", {"pattern": r"(\w+\s*)+~"})
    answer = domain.call(domain.worlds(), pattern)
    assert answer.failed
    assert answer.observation.startswith("Error: The pattern took longer than 0.3 seconds")


@pytest.mark.parametrize("pattern", ["(fe+)+ and", "(a|b){2}", "c.*a.*r.*d", "[[a]x?"])
def test_patterns_match_the_same_in_another_process(pattern: str) -> None:
    texts = ["feefee and", "abab", "card, cards, CARD\ncarrd", "[x]"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [len(re.findall(pattern, text, re.IGNORECASE)) for text in texts]
    assert grep.match_counts(pattern, texts) == expected
