/** The model on loopback as a provider of Codex's, by arguments alone. */
export function providerArgs(url: string): readonly string[] {
  const provider = `name="loopback",base_url="${url}/v1",env_key="CODEX_API_KEY",wire_api="responses"`;
  return [
    "-c",
    'model_provider="loopback"',
    "-c",
    `model_providers.loopback={${provider},request_max_retries=0,stream_max_retries=0}`,
  ];
}
