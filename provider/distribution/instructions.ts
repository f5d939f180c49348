import { PROVIDER_ADDRESS, REGISTRY_HOSTS } from './mirror.ts'

/** A quoted string. The CLI configuration has no templates, and the texts here contain none. Pure. */
function quoted(text: string): string {
  return JSON.stringify(text)
}

/** The CLI configuration with which Terraform and OpenTofu use `mirror` for this provider. Pure. */
export function cliConfiguration(mirror: string): string {
  const addresses = REGISTRY_HOSTS.map((host) => quoted(`${host}/${PROVIDER_ADDRESS}`)).join(', ')
  return `provider_installation {
  filesystem_mirror {
    path    = ${quoted(mirror)}
    include = [${addresses}]
  }
  direct {
    exclude = [${addresses}]
  }
}
`
}

/** The block that requires this provider in a configuration. Pure. */
export function requiredProviders(version: string): string {
  return `terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source  = ${quoted(PROVIDER_ADDRESS)}
      version = ${quoted(version)}
    }
  }
}
`
}
