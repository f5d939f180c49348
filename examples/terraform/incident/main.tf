# An incident announced together with the change that causes it. A new message posts an update; destroying the
# resource, or removing it from the configuration, resolves the incident.

terraform {
  required_version = ">= 1.11"
  required_providers {
    pharos = {
      source = "pharos/pharos"
    }
  }
}

resource "pharos_service" "checkout" {
  name      = "checkout"
  interval  = "1m"
  regions   = ["eu-west-1"]
  endpoints = [{ url = "https://shop.example.com/health", http = { method = "GET" } }]
}

resource "pharos_incident" "migration" {
  title           = "Checkout moves to another data centre"
  service_ids     = [pharos_service.checkout.id]
  severity        = "degraded_performance"
  message         = "Checkout is slower than usual while we move it."
  status          = "identified"
  resolve_message = "Checkout has moved."
}
