import KymographCore

/// How the brokers of a topic are reached.
struct KafkaAccess: Hashable, Sendable {
    /// The topic.
    var place: KafkaPlace
    /// Further properties of librdkafka, among them secrets; read anew whenever a client is opened.
    var file: SecretFile?

    /// What librdkafka needs to reach them, then `own`, then what the file says, which may overrule the former where it
    /// may name them.
    ///
    /// - Throws: ``KafkaFault`` when the file cannot be read, names what it must not, or does not say how brokers on
    ///   other machines are reached: it may be half written.
    func properties(
        of role: KafkaProperties.Role, _ own: [KafkaProperty]
    ) throws(KafkaFault) -> [KafkaProperty] {
        let stated = try stated(role)
        guard place.isLocal || stated?.statesSecurity == true else {
            throw KafkaFault(
                .unfit, "it does not say security.protocol, without which brokers are reached in plain text")
        }
        return [
            KafkaProperty(name: "bootstrap.servers", value: place.brokers),
            KafkaProperty(name: "client.id", value: "kymo"),
            // The default since 2.0 only.
            KafkaProperty(name: "ssl.endpoint.identification.algorithm", value: "https"),
        ] + own + (stated?.all ?? [])
            + (stated?.usesKerberos == true ? [KafkaProperty(name: KafkaProperties.reloginInterval, value: "0")] : [])
    }

    /// The file's properties; nil without a file.
    private func stated(_ role: KafkaProperties.Role) throws(KafkaFault) -> KafkaProperties? {
        guard let file else { return nil }
        let bytes: [UInt8]
        do throws(SecretFault) { bytes = try file.bytes().0 } catch {
            throw KafkaFault(.unfit, error.message)
        }
        return try KafkaProperties(bytes, name: file.path, for: role)
    }
}
