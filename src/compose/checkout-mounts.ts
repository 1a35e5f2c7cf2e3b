import type { Config } from "../config/config.ts";

/** A container or another machine cannot look into a mount of ours: then the files are written. */
export const checkoutMounts = ({ environments }: Config): { readonly mount?: false } =>
  Object.values(environments).some(({ run }) => run !== undefined) ? { mount: false } : {};
