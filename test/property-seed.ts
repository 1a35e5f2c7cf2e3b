import fc from "fast-check";

/**
 * Properties are tried with the same made-up values every time: a red build that cannot be repeated teaches nothing.
 * New values are looked for on purpose: `REMAND_PROPERTY_SEED=random npx vitest run --project=quick --project=pure`.
 */
const wanted = process.env["REMAND_PROPERTY_SEED"] ?? "20261115";
if (wanted !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(wanted) });
