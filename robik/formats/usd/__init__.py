"""UsdPhysics: `*.usd`, `*.usda`, `*.usdc`, `*.usdz`, read by `pxr`."""
