"""Scripts of users: what the file says, and what the user then says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenroom.domains.tasks import STOP, Action
from greenroom.errors import DataError, InputError, OutsideFault
from greenroom.options import stored_settings
from greenroom.users import (
    Answer,
    Condition,
    Otherwise,
    Reply,
    ScriptedUser,
    UserContext,
    find_user_strategy,
)
from greenroom.users.scripts import LONGEST, read_scripts
from greenroom.util import patterns

SCRIPTED = find_user_strategy("scripted")


def said(user: Any, *heard: str) -> list[str]:
    """What a user says to these messages of an agent."""

    async def talk() -> list[str]:
        return [await user.open("Do it."), *[await user.reply(content) for content in heard]]

    return anyio.run(talk)


def written(folder: Path, text: str) -> Path:
    path = folder / "script.toml"
    path.write_text(text)
    return path


def user_of(path: Path, **context: Any) -> Any:
    settings = SCRIPTED.check({"script": str(path)})
    return SCRIPTED.create(UserContext(settings=settings, **context))


def holds(message: str, **condition: Any) -> bool:
    return anyio.run(Condition(**condition).holds, message)


@pytest.mark.parametrize(
    ("condition", "message", "expected"),
    [
        ({"says": "order id"}, "What is your ORDER  ID?", True),
        ({"says": "order id"}, "What is your order\nid?", True),
        ({"says": "order id"}, "Reorder ideas?", False),
        ({"says": "order"}, "Your orders?", False),
        ({"says": ["zip", "postal code"]}, "Your postal code, please.", True),
        ({"says": "what's your name"}, "What\N{RIGHT SINGLE QUOTATION MARK}s your name?", True),
        ({"says": "#W1"}, "Is it #W1?", True),
        ({"says": "#W1"}, "Is it #W12?", False),
        ({"says_all": ["email", "zip"]}, "Your email and zip?", True),
        ({"says_all": ["email", "zip"]}, "Your email?", False),
        ({"says": "cancel", "says_none": "cannot"}, "I can cancel it.", True),
        ({"says": "cancel", "says_none": "cannot"}, "I cannot cancel it.", False),
        ({"matches": r"order (id|number)"}, "Your Order Number?", True),
        ({"matches": r"^order"}, "Your order", False),
        ({"says": "order", "matches": r"\d"}, "order", False),
        ({}, "anything", True),
    ],
)
def test_a_condition_looks_for_words(
    condition: dict[str, Any], message: str, expected: bool
) -> None:
    assert holds(message, **condition) is expected


def test_answers_come_before_lines_and_the_first_that_fits_is_given(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[scripts]]
        opening = "Hello."
        lines = ["One.", "Two."]
        otherwise = "I do not know."

        [[scripts.answers]]
        says = "order id"
        times = 1
        say = "#W1"

        [[scripts.answers]]
        says = "order id"
        after_line = 2
        say = "I said so twice."

        [[scripts.answers]]
        says = "bye"
        from_turn = 3
        stop = true
        """,
    )
    user = user_of(path)
    for _ in range(2):  # opening begins anew
        assert said(user, "bye", "Order id?", "Order id?", "Order id?", "What?", "Bye!") == [
            *("Hello.", "One.", "#W1", "Two.", "I said so twice.", "I do not know.", STOP)
        ]
    counts = {"lines said": 2, "lines left over": 0, "answers given": 3, "answers never given": 0}
    assert user.tallies == {"script": counts | {"neither answer nor line": 1}}
    assert said(user, "And?") == ["Hello.", "One."]
    counts = {"lines said": 1, "lines left over": 1, "answers given": 0, "answers never given": 3}
    assert user.tallies == {"script": counts | {"neither answer nor line": 0}}


def test_lines_alone_end_and_a_script_with_answers_fails(tmp_path: Path) -> None:
    lines = user_of(written(tmp_path, '[[scripts]]\nlines = ["One."]'))
    assert said(lines, "a", "b") == ["Do it.", "One.", STOP]
    assert user_of(written(tmp_path, "[[scripts]]")).tallies == {}
    asking = written(
        tmp_path, '[[scripts]]\n[[scripts]]\ntasks = [4]\nanswers = [{says = "id", say = "#W1"}]'
    )
    with pytest.raises(
        OutsideFault,
        match=r"no answer to the agent's message 2, 'And your zip code\?': script\.toml, script 2",
    ):
        said(user_of(asking, task_index=4), "Your id?", "And your\nzip code?")


def test_a_user_can_be_written_in_python() -> None:
    user = ScriptedUser(
        ["One.", Reply(say="Two.")],
        answers=[Answer(says=("id",), say="#W1")],
        otherwise=Otherwise(stop=True),
    )
    assert said(user, "x", "id", "x", "x") == ["Do it.", "One.", "#W1", "Two.", STOP]


class Tools:
    """Tools of a user that note what is called."""

    def __init__(self) -> None:
        self.infos: list[Any] = []
        self.past: list[Any] = []
        self.made: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, arguments: dict[str, Any], *, joined: bool = False) -> str:
        self.made.append((name, dict(arguments)))
        return f"{name} {len(self.made)}"


def test_a_user_acts_and_says_what_came_of_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[scripts]]
        opening = { calls = [{ tool = "look" }] }
        lines = [{ calls = [{ tool = "a", arguments = { n = 1 } }, { tool = "b" }], stop = true }]
        [[scripts.answers]]
        says = "status"
        calls = [{ tool = "look" }, { tool = "look" }]
        say = "It says {{result}}."
        """,
    )
    user, tools = user_of(path), Tools()
    user.equip(tools)
    assert said(user, "Status?", "Then do it.") == ["Do it.", "It says look 2\nlook 3.", STOP]
    assert tools.made[-2:] == [("a", {"n": 1}), ("b", {})]
    assert len(tools.made) == 5


def test_words_of_others_are_left_as_they_are(tmp_path: Path) -> None:
    user = ScriptedUser(
        [Action("look"), "It is {{result}}."], opening="{{result}}", opening_calls=[Action("look")]
    )
    user.equip(Tools())  # pyright: ignore[reportArgumentType]
    assert said(user, "Well?") == ["{{result}}", "It is {{result}}."]
    scripted = user_of(written(tmp_path, "[[scripts]]\nopening = {calls = [{tool = 'look'}]}"))
    scripted.equip(Tools())

    async def begin() -> str:
        return await scripted.open("Say {{result}}.")

    assert anyio.run(begin) == "Say {{result}}."


def test_tasks_are_told_apart_by_place_and_id(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[scripts]]
        tasks = [1, "id:b"]
        opening = "first"
        [[scripts]]
        opening = "others"
        """,
    )
    found = [
        said(user_of(path, task_index=index, task_id=name))[0]
        for index, name in [(1, "a"), (2, "b"), (3, "1"), (4, None)]
    ]
    assert found == ["first", "first", "others", "others"]


ROWS = """
    [[scripts]]
    rows = { city = "Rome", days = 2 }
    opening = "Two days in {{city}}."
    [[scripts]]
    rows = { city = "Rome" }
    opening = "Rome, please."
    [[scripts]]
    opening = "I go to {{ city }}, not {{city}}{{country}}."
    [[scripts.answers]]
    matches = "^{{city}}$"
    calls = [{ tool = "book", arguments = { days = "{{days}}", to = "in {{city}}" } }]
    say = "Yes."
"""


def test_rows_are_told_apart_by_columns_and_fill_placeholders(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    rome = {"city": "Rome", "country": "{{city}}", "days": "2"}
    assert said(user_of(path, row=rome)) == ["Two days in Rome."]
    assert said(user_of(path, row=rome | {"days": 3})) == ["Rome, please."]
    other = user_of(path, row={"city": "C.", "country": "{{city}}", "days": 3})
    tools = Tools()
    other.equip(tools)
    assert said(other, "C.") == ["I go to C., not C.{{city}}.", "Yes."]
    assert tools.made == [("book", {"days": 3, "to": "in C."})]
    with pytest.raises(OutsideFault):
        said(other, "C!")  # in a pattern, a value is plain text


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"city": "Paris", "days": 1}, r"script 3 has the placeholder \{\{country\}\}.*no column"),
        ({"city": "Paris", "days": 1, "country": " "}, r"\{\{country\}\}, and that is empty here"),
    ],
)
def test_a_row_has_what_its_script_needs(row: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=told):
        user_of(written(tmp_path, ROWS), row=row)


SHORT = "[[scripts]]\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("scripts = [", r"script\.toml is not TOML: Invalid value"),
        ("", r"script\.toml: write \[\[scripts\]\]"),
        ("scripts = []", r"write \[\[scripts\]\]"),
        (SHORT + 'openin = "x"', r"script 1: unknown key 'openin'\. Did you mean 'opening'\?"),
        (SHORT + SHORT + "lines = [1]", r"script 2, line 1: write a text, or a table such as"),
        (SHORT + 'lines = ["a", {stop = false}]', r"script 1, line 2: a text in say is needed"),
        (SHORT + 'answers = [{say = "a"}]', r"script 1, answer 1: it has no condition"),
        (SHORT + 'answers = [{says = "", say = "a"}]', r"answer 1, says, text 1: a text to lo"),
        (SHORT + 'answers = [{matches = "(", say = "a"}]', r"answer 1, matches: '\(' is no reg"),
        (SHORT + 'answers = [{says = "a", say = "b", times = 0}]', r"times: .*greater than or eq"),
        (SHORT + 'answers = [{says = "a", say = "b", stop = true}]', r"and not both"),
        (SHORT + 'answers = [{says = "a", say = "{{result}}"}]', r"\{\{result\}\} stands for wha"),
        (SHORT + 'answers = [{says = "{{result}}", say = "b"}]', r"\{\{result\}\} is for what a"),
        (SHORT + 'answers = [{says = 1, say = "a"}]', r"answer 1, says: write a text, or a list"),
        (SHORT + 'lines = "a"', r"script 1, lines: write a list such as"),
        (SHORT + 'lines = [""]', r"script 1, line 1, say: the text is empty"),
        (SHORT + '[scripts.goals]\nsays = "a"', r"goals: write \[\[scripts\.goals\]\] before each"),
        (SHORT + "tasks = 24", r"script 1, tasks: write a list such as \[24\]"),
        (SHORT + "tasks = [true]", r"script 1, task 1: write a place such as 24, or an id"),
        (SHORT + "rows = [1]", r"script 1, rows: write a table such as"),
        (SHORT + "otherwise = {}", r"otherwise: one of say, stop = true and fail = true"),
        (SHORT + "goals = [{says_none = 'no'}]", r"goal 1: a goal needs says"),
        (SHORT + 'lines = [{say = "a", calls = [{}]}]', r"line 1, call 1: tool is missing"),
        (SHORT + 'tasks = [1]\nrows = {a = "b"}', r"tasks and rows exclude each other"),
        (SHORT + "tasks = [1, 2]\n" + SHORT + "tasks = [2]", r"two scripts are for task 2"),
        (SHORT + SHORT, r"two scripts are for all tasks and rows"),
        ("#" * LONGEST + "\n", r"more than 1,000,000 characters"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=told) as caught:
        read_scripts(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_file_is_there_and_toml(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nope\.toml"):
        read_scripts(tmp_path / "nope.toml")
    with pytest.raises(DataError, match=r"whose name ends in \.toml"):
        read_scripts(tmp_path / "script.yaml")
    (tmp_path / "latin.toml").write_bytes(b'a = "\xe9"')
    with pytest.raises(DataError, match="not UTF-8"):
        read_scripts(tmp_path / "latin.toml")


def test_what_toml_has_beyond_json_is_kept_as_json(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """\N{BYTE ORDER MARK}[[scripts]]
        rows = { day = 2024-05-01 }
        lines = [{ calls = [{ tool = "book", arguments = { day = 2024-05-02 } }], stop = true }]
        """,
    )
    user, tools = user_of(path, row={"day": "2024-05-01"}), Tools()
    user.equip(tools)
    assert said(user, "When?") == ["Do it.", STOP]
    assert tools.made == [("book", {"day": "2024-05-02"})]
    first = SCRIPTED.check({"script": str(path)})
    assert SCRIPTED.check(stored_settings(first)) == first
    for value in (str(2**70), "[" * 300 + "]" * 300):
        with pytest.raises(DataError, match="cannot be kept as JSON"):
            read_scripts(written(tmp_path, f"[[scripts]]\nrows = {{ a = {value} }}"))


def test_what_is_kept_is_the_content(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    first = SCRIPTED.check({"script": str(path)})
    kept = stored_settings(first)
    path.unlink()
    again = SCRIPTED.check(kept)
    assert again == first
    assert stored_settings(again) == kept
    with pytest.raises(InputError, match="unknown key 'lins'"):
        SCRIPTED.check({"script": {"scripts": [{"lins": []}]}})


def test_a_task_or_row_without_a_script_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "[[scripts]]\ntasks = [1]\n")
    with pytest.raises(InputError, match=r"no script for task 2: add one with tasks = \[2\]"):
        user_of(path, task_index=2)
    with pytest.raises(InputError, match="no script for this row"):
        user_of(path, row={})


def test_a_pattern_cannot_hang_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MATCH_SECONDS", 0.2)
    user = ScriptedUser(answers=[Answer(matches="(a+)+$", say="x")])
    with pytest.raises(OutsideFault, match="answer 1 takes too long on the agent's message 1"):
        said(user, "a" * 40 + "!")


MESSAGES = st.sampled_from(["id?", "zip?", "done", "what", "Please do this on your side"])


@given(heard=st.lists(MESSAGES, max_size=8), cut=st.integers(0, 8))
def test_a_user_who_takes_over_goes_on_as_if_they_had_been_there(
    heard: list[str], cut: int
) -> None:
    def user() -> ScriptedUser:
        return ScriptedUser(
            ["One.", Action("look"), "Two.", "Three."],
            answers=[
                Answer(says=("id",), say="#W1", times=1),
                Answer(says=("id",), say="Again: #W1.", after_line=1),
                Answer(says=("zip",), say="1234", from_turn=3),
                Answer(says=("done",), stop=True, from_turn=5),
            ],
            otherwise=Otherwise(say="Hm."),
        )

    async def check() -> None:
        whole, later = user(), user()
        for one in (whole, later):
            one.equip(Tools())  # pyright: ignore[reportArgumentType]
        opening = await whole.open("Do it.")
        replies = [await whole.reply(content) for content in heard]
        exchanges = list(zip(heard[:cut], replies[:cut], strict=True))
        await later.take_over("Do it.", opening, exchanges)
        assert [await later.reply(content) for content in heard[cut:]] == replies[cut:]

    anyio.run(check)
