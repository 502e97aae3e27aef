"""A domain in one file: the desk of a lending library, with its data and one task.

greenroom run --env examples/by_path/domain.py
"""

from __future__ import annotations

from typing import Annotated

from greenroom import domains
from greenroom.domains import Action, DomainPlugin, PackInfo, Refused, Task, Toolset, World

Member = Annotated[str, "The number on the member's card, for example 'M-1'."]
Book = Annotated[str, "The number on the back of the book, for example 'B-1'."]

tools = Toolset()


@tools.add()
def get_member(world: World, member_id: Member) -> str:
    """Show a member: name and loans."""
    if member_id not in world["members"]:
        raise Refused("member not found")
    return world["members"].text(member_id)


@tools.add(writes=True)
def lend_book(world: World, member_id: Member, book_id: Book) -> str:
    """Lend a book to a member, once they have said yes."""
    books, members = world["books"], world["members"]
    if member_id not in members or book_id not in books:
        raise Refused("member or book not found")
    if books.read(book_id)["lent_to"] is not None:
        raise Refused("the book is lent already")
    books[book_id]["lent_to"] = member_id
    members[member_id]["loans"].append(book_id)
    return members.text(member_id)


TASK = Task(
    instruction="You are Ottoline Reyes, card M-1. You want to take The Salt Road, B-1, home.",
    actions=(Action("lend_book", {"member_id": "M-1", "book_id": "B-1"}),),
)


def library() -> domains.Pack:
    """The data of the domain."""
    return domains.pack_in_memory(
        PackInfo(name="small-library", version="1", source="made up", licence="MIT"),
        "library",
        tables={
            "books": {"B-1": {"title": "The Salt Road", "lent_to": None}},
            "members": {"M-1": {"name": "Ottoline Reyes", "loans": []}},
        },
        tasks={"test": [TASK]},
        policy="Look the member up. Lend a book only after a clear yes.",
    )


plugin = DomainPlugin("library", tools, builtin_pack=library)
