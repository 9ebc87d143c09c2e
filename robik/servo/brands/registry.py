"""Registry of servo brands. Another brand is a package beside this module and a row here."""

from __future__ import annotations

from ...errors import ServoError
from .brand import Brand, ServoModel
from .dynamixel.brand import DYNAMIXEL
from .dynamixel1.brand import DYNAMIXEL1
from .feetech.brand import FEETECH
from .reachy.brand import REACHY

BRANDS: dict[str, Brand] = {brand.name: brand for brand in (DYNAMIXEL, DYNAMIXEL1, FEETECH, REACHY)}
DEFAULT = DYNAMIXEL


def brand_of(name: object) -> Brand:
    """Return the brand of a name; a ServoError lists those that there are."""
    if not isinstance(name, str) or name not in BRANDS:
        raise ServoError(f"unknown brand {name!r}; the brands are {', '.join(BRANDS)}")
    return BRANDS[name]


def brand_at(port: str) -> Brand | None:
    """Return the brand as which a program behind a port speaks; None where the servos themselves are at the port."""
    return next((brand for brand in BRANDS.values() if brand.scheme and port.strip().startswith(brand.scheme)), None)


def model_of(brand: object, name: object) -> ServoModel:
    """Return a model that goals can be sent to; raise ServoError if the brand has none of that name."""
    made = brand_of(brand)
    if not isinstance(name, str) or name not in made.models:
        raise ServoError(f"unknown model {name!r}; the models are {', '.join(made.playable)}")
    if not made.models[name].is_playable:
        raise ServoError(
            f"an {name} can be found and its torque cut, but not played; the models are {', '.join(made.playable)}"
        )
    return made.models[name]
