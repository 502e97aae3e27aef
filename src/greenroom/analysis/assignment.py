"""Which row goes with which column, so that the costs add up to the least."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

_FREE = -1


def least_assignment(costs: Sequence[Sequence[float]]) -> list[int]:
    """The column of each row, all different, with the least cost in all.

    There are at least as many columns as rows. Costs may be infinite, as long as every row can have
    a column at a finite one. Of equally good columns the first free one is taken.

    Rows come in one by one. A new row takes the cheapest path to a free column, along which rows
    that came before may move to another one. Prices of rows and columns keep all costs on the way
    from being negative, so that Dijkstra's algorithm finds the path.
    """
    width = len(costs[0]) if costs else 0
    row_price, column_price = [0.0] * len(costs), [0.0] * width
    column_of, row_of = [_FREE] * len(costs), [_FREE] * width
    for newcomer in range(len(costs)):
        distance, before = [inf] * width, [newcomer] * width
        ahead = list(range(width))
        passed: list[int] = []
        row, reached = newcomer, 0.0
        while True:
            for column in ahead:
                step = costs[row][column] - row_price[row] - column_price[column]
                if reached + step < distance[column]:
                    distance[column], before[column] = reached + step, row
            reached, _, column = min((distance[one], row_of[one] != _FREE, one) for one in ahead)
            if row_of[column] == _FREE:
                break
            ahead.remove(column)
            passed.append(column)
            row = row_of[column]
        row_price[newcomer] += reached
        for one in passed:
            row_price[row_of[one]] += reached - distance[one]
            column_price[one] -= reached - distance[one]
        while column != _FREE:
            row = before[column]
            row_of[column], column_of[row], column = row, column, column_of[row]
    return column_of
