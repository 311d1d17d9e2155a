/// The name of a property of an event, and whose property it is.
struct PropertyName: Hashable {
    let bytes: [UInt8]

    /// Properties that AMQP itself gives a message (OASIS AMQP 1.0, part 3, section 3.2.4). Event Hubs writes them as
    /// text, without a type.
    private static let ofAMQP = names([
        "message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding",
        "absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id",
    ])

    /// Annotations of an IoT Hub (Azure IoT Hub, "Create and read messages", system properties) beside those that begin
    /// as ``prefixes`` do.
    private static let ofHubs = names([
        "iothub-enqueuedtime", "iothub-message-source", "iothub-message-schema", "iothub-interface-id",
        "iothub-interface-name", "dt-dataschema", "dt-subject",
    ])

    private static let prefixes = ["iothub-connection-", "x-opt-"].map { Array($0.utf8) }

    private static func names(_ texts: [String]) -> Set<PropertyName> { Set(texts.map { PropertyName($0) }) }

    /// The name `text`.
    init(_ text: String) { bytes = Array(text.utf8) }

    /// The name of which `bytes` are the text.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of a record (Event Hubs gives the partition key of an event so).
    static let partitionKey = PropertyName("x-opt-partition-key")
    /// When a hub has got an event.
    static let enqueuedTime = PropertyName("x-opt-enqueued-time")

    /// Whether it is one of the hub or of AMQP, and not of the application.
    var isOfSystem: Bool {
        Self.ofAMQP.contains(self) || Self.ofHubs.contains(self) || Self.prefixes.contains { bytes.starts(with: $0) }
    }

    /// Whether it is a property of AMQP itself.
    var isTextOfAMQP: Bool { Self.ofAMQP.contains(self) }
}
