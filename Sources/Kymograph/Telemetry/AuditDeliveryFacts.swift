/// How the audit trail gets on to the server that is to have it.
struct AuditDeliveryFacts: Hashable, Sendable {
    /// AuditEvents that the server has taken since the start.
    var sent = 0
    /// Those that it will never take.
    var refused = 0
    /// Whether it takes them at present, as far as it was asked.
    var isUp = true
}
