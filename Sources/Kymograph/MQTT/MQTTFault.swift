/// What a broker has sent is no MQTT, or not what may come now. The connection ends with it.
struct MQTTFault: Error, Hashable {
    /// What is wrong, without content of the packet.
    var message: String

    init(_ message: String) { self.message = message }
}
