"""Tools of the checkout: building, installing and measuring."""
