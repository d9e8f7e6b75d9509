//! What models cost, as people set it (SPEC §9.5): nothing is priced that nobody priced.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::usage::Spent;
use crate::conversation::Usage;

/// For how many tokens a price is.
const MILLION: f64 = 1_000_000.0;

/// Of one model, for a million tokens each, in whatever currency the limit on cost is in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Prompt tokens outside of any cache.
    #[serde(deserialize_with = "amount")]
    pub input: f64,
    /// Generated tokens.
    #[serde(deserialize_with = "amount")]
    pub output: f64,
    /// Prompt tokens read from a cache; as input if absent.
    #[serde(default, deserialize_with = "maybe_amount")]
    pub cache_read: Option<f64>,
    /// Prompt tokens written to a cache; as input if absent.
    #[serde(default, deserialize_with = "maybe_amount")]
    pub cache_write: Option<f64>,
}

/// By model: `provider:name`, or the name alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Prices(pub BTreeMap<String, Price>);

impl Prices {
    /// The price of `model`, named `provider:name`.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let name = model.split_once(':').map(|(_, name)| name);
        self.0.get(model).or_else(|| self.0.get(name?))
    }

    /// What was spent, if every model of it has a price.
    pub fn cost(&self, spent: &Spent) -> Option<f64> {
        spent.models.iter().try_fold(0.0, |sum, (model, usage)| {
            Some(sum + self.of(model)?.cost(*usage))
        })
    }
}

impl Price {
    fn cost(&self, usage: Usage) -> f64 {
        let part = |tokens: u64, price: f64| as_float(tokens) * price / MILLION;
        part(usage.input, self.input)
            + part(usage.output, self.output)
            + part(usage.cache_read, self.cache_read.unwrap_or(self.input))
            + part(usage.cache_write, self.cache_write.unwrap_or(self.input))
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens stay far below 2^52")]
fn as_float(tokens: u64) -> f64 {
    tokens as f64
}

/// A cost or price: never below zero.
pub fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(from)?;
    if amount.is_finite() && amount >= 0.0 {
        Ok(amount)
    } else {
        Err(serde::de::Error::custom(format!("{amount} is no amount")))
    }
}

/// The same where there may be none.
pub fn maybe_amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Amount(#[serde(deserialize_with = "amount")] f64);
    Ok(Option::<Amount>::deserialize(from)?.map(|Amount(amount)| amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(json: &str) -> Result<Prices, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    fn spent(models: &[&str]) -> Spent {
        let usage = Usage {
            input: 1_000_000,
            output: 500_000,
            cache_read: 2_000_000,
            cache_write: 1_000_000,
        };
        Spent {
            models: models
                .iter()
                .map(|&model| (model.to_owned(), usage))
                .collect(),
            ..Spent::default()
        }
    }

    #[test]
    fn a_cost_is_given_only_where_every_model_has_a_price() {
        let prices = prices(
            r#"{"openai:a": {"input": 2, "output": 10, "cacheRead": 0.5},
                "b": {"input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0}}"#,
        )
        .unwrap();
        assert_eq!(
            prices.cost(&spent(&["openai:a"])),
            Some(2.0 + 5.0 + 1.0 + 2.0)
        );
        assert_eq!(prices.cost(&spent(&["openai:a", "ollama:b"])), Some(11.0));
        assert_eq!(prices.cost(&spent(&["openai:a", "anthropic:a"])), None);
        assert_eq!(prices.cost(&Spent::default()), Some(0.0));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for json in [
            r#"{"a": {"input": -1, "output": 1}}"#,
            r#"{"a": {"input": 1}}"#,
            r#"{"a": {"input": 1, "output": 1, "cacheRead": "1"}}"#,
        ] {
            assert!(prices(json).is_err(), "{json}");
        }
    }
}
