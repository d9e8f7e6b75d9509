//! The area `store` as real processes see it.
