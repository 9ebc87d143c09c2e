"""The oracle: an independent solver of the paper's problem, to judge the library by.

It is slow and dense, and solves the problem as the paper does.
"""
