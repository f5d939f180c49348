# A service whose checks send a secret. A write-only argument takes it from an ephemeral variable, so neither state
# nor plan contains it. Set TF_VAR_probe_token for plan and apply.

terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

variable "probe_token" {
  description = "Token that checks present to the shop."
  type        = string
  ephemeral   = true
}

resource "pharos_service" "checkout" {
  name     = "checkout"
  interval = "30s"
  regions  = ["eu-west-1", "us-east-1"]

  endpoints = [
    {
      name = "health"
      url  = "https://shop.example.com/health"

      http = {
        method        = "POST"
        timeout       = "5s"
        max_redirects = 0
        body          = { value = jsonencode({ probe = true }) }
        headers = {
          Content-Type  = { value = "application/json" }
          Authorization = { value_wo = "Bearer ${var.probe_token}" }
        }
      }

      assertions = [
        { status_code = { between = [200, 299] } },
        { latency = { phase = "total", lt = "800ms" } },
        { dns_resolution = { lte = "50ms" } },
        { header = { name = "content-type", starts_with = "application/json" } },
        { body = { regex = "\"status\":\\s*\"ok\"" } },
      ]
    },
  ]
}

output "checkout_id" {
  description = "UUID of the service, for status pages and dashboards."
  value       = pharos_service.checkout.id
}
