# One service for each file in services/: a new service needs five lines of YAML and no HCL.

terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

locals {
  services = {
    for file in fileset("${path.module}/services", "*.yaml") :
    trimsuffix(file, ".yaml") => yamldecode(file("${path.module}/services/${file}"))
  }
}

resource "pharos_service" "fleet" {
  for_each = local.services

  name     = each.key
  interval = try(each.value.interval, "60s")
  regions  = try(each.value.regions, ["eu-west-1"])
  paused   = try(each.value.paused, null)

  endpoints = [
    for path in each.value.paths : {
      name = path
      url  = "https://${each.value.host}${path}"
      http = {
        method  = "GET"
        timeout = try(each.value.timeout, null)
      }
      assertions = [
        { status_code = { one_of = try(each.value.status, [200]) } },
        { latency = { phase = "headers", lt = "1s" } },
      ]
    }
  ]
}

output "ids" {
  description = "UUID of each service by the name of its file."
  value       = { for name, service in pharos_service.fleet : name => service.id }
}
