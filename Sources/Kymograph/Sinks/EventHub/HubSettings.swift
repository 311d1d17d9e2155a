/// How an event hub is delivered to.
package struct HubSettings: Sendable {
    /// The hub: `https://name.servicebus.windows.net/hub`.
    package var url: String
    /// Which events are in one request.
    package var partitioning = EventPartitioning.device
    /// Most bytes of a request; an event that needs more is refused.
    package var maxBytes = 1 << 20
    /// Most requests under way at once.
    package var connections = 32
    /// Longest time of a request, in milliseconds.
    package var timeout = 30_000
    /// Whether there are receipts, which say what events are about.
    package var keepsReceipts = false
    /// Bytes of rows that are held in memory, about.
    package var rowBytes = 4 << 20

    /// The defaults for a hub.
    package init(url: String) { self.url = url }

    /// As what carries requests has them.
    var delivery: DeliverySettings {
        // Who patients and devices are is no matter of a hub.
        var settings = DeliverySettings(base: url, identity: .create)
        settings.maxConcurrency = connections
        settings.maxBytes = maxBytes
        settings.timeout = timeout
        settings.rowBytes = rowBytes
        settings.maxEntries = 10_000
        return settings
    }
}
