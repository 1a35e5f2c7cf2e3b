/** The repository that all machines share. Trouble with the network is waited out, within a bound. */
export interface Remote {
  /** What it is called in the clone. */
  readonly name: string;
  /** Its address, without a login. */
  readonly address: string;
}
