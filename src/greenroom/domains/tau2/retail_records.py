"""The records of tau2's retail database.

The names of the classes and the order of their fields are tau2's: both show in what tools answer.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from greenroom.domains.tau2.records import Database


class Variant(BaseModel):
    """An item that can be bought."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(BaseModel):
    """A product and its items."""

    name: str
    product_id: str
    variants: dict[str, Variant]


class UserName(BaseModel):
    """A customer's name."""

    first_name: str
    last_name: str


class UserAddress(BaseModel):
    """Where a customer lives or an order goes."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class CreditCard(BaseModel):
    """A credit card."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class GiftCard(BaseModel):
    """A gift card and what is left on it."""

    source: Literal["gift_card"]
    id: str
    balance: float


class Paypal(BaseModel):
    """A PayPal account."""

    source: Literal["paypal"]
    id: str


class User(BaseModel):
    """A customer."""

    user_id: str
    name: UserName
    address: UserAddress
    email: str
    payment_methods: dict[str, CreditCard | GiftCard | Paypal]
    orders: list[str]


class OrderItem(BaseModel):
    """An item of an order."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class OrderFulfillment(BaseModel):
    """A delivery of items."""

    tracking_id: list[str]
    item_ids: list[str]


class OrderPayment(BaseModel):
    """A payment or refund."""

    transaction_type: Literal["payment", "refund"]
    amount: float
    payment_method_id: str


class Order(BaseModel):
    """An order."""

    order_id: str
    user_id: str
    address: UserAddress
    items: list[OrderItem]
    status: Literal[
        "processed",
        "pending",
        "pending (item modified)",
        "delivered",
        "cancelled",
        "exchange requested",
        "return requested",
    ]
    fulfillments: list[OrderFulfillment]
    payment_history: list[OrderPayment]
    cancel_reason: Literal["no longer needed", "ordered by mistake"] | None = None
    exchange_items: list[str] | None = None
    exchange_new_items: list[str] | None = None
    exchange_payment_method_id: str | None = None
    exchange_price_difference: float | None = None
    return_items: list[str] | None = None
    return_payment_method_id: str | None = None


class RetailDB(Database):
    """The whole database."""

    products: dict[str, Product]
    users: dict[str, User]
    orders: dict[str, Order]
