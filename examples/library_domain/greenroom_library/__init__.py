"""A domain in its own package: the desk of a lending library.

Copy this folder, rename it, and replace the tools and the data. `pip install -e .` makes the domain
known to Greenroom under the name of its entry point.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from greenroom.domains import DomainPlugin, Pack, Refused, Toolset, World, load_pack
from greenroom.domains.common_tools import transfer_to_human_agents

BookId = Annotated[str, "The number on the back of the book, for example 'B-104'."]
MemberId = Annotated[str, "The number on the member's card, for example 'M-7'."]

tools = Toolset()
tools.add(ends_episode=True)(transfer_to_human_agents)


@tools.add()
def find_book(world: World, title: Annotated[str, "A part of the title."]) -> str:
    """Find books by a part of their title."""
    books = world["books"]
    found = {key: books.read(key)["title"] for key in books}
    return json.dumps({k: text for k, text in found.items() if title.lower() in text.lower()})


@tools.add()
def get_member(world: World, member_id: MemberId) -> str:
    """Show a member: name, loans and what they owe."""
    members = world["members"]
    if member_id not in members:
        raise Refused("member not found")
    return members.text(member_id)


@tools.add(writes=True)
def lend_book(world: World, member_id: MemberId, book_id: BookId) -> str:
    """Lend a book to a member, once they have said yes."""
    books, members = world["books"], world["members"]
    if member_id not in members:
        raise Refused("member not found")
    if book_id not in books:
        raise Refused("book not found")
    if books.read(book_id)["lent_to"] is not None:
        raise Refused("the book is lent already")
    if members.read(member_id)["owes"] > 0:
        raise Refused("the member has to pay what they owe first")
    books[book_id]["lent_to"] = member_id
    members[member_id]["loans"].append(book_id)
    return members.text(member_id)


@tools.add(writes=True)
def return_book(world: World, book_id: BookId) -> str:
    """Take a book back."""
    books = world["books"]
    if book_id not in books or books.read(book_id)["lent_to"] is None:
        raise Refused("the book is not lent")
    member = world["members"][books[book_id]["lent_to"]]
    member["loans"].remove(book_id)
    books[book_id]["lent_to"] = None
    return json.dumps(member)


def builtin_pack() -> Pack:
    """The data that the domain ships with."""
    return load_pack(Path(__file__).parent / "pack", "library")


plugin = DomainPlugin("library", tools, builtin_pack=builtin_pack)
