/** Files that say what is to be installed, beside lockfiles; each in any folder of the project. */
export const MANIFESTS: readonly string[] = [
  "package.json",
  ".npmrc",
  "pnpm-workspace.yaml",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "requirements*.txt",
  "Gemfile*",
  "composer.*",
];

/** Files that change how it is installed. */
export const INSTALL_SETTINGS: readonly string[] = [
  ".nvmrc",
  ".node-version",
  ".python-version",
  ".tool-versions",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  "bunfig.toml",
  "binding.gyp",
  "uv.toml",
  "poetry.toml",
  "patches/**",
  ".yarn/**",
];
