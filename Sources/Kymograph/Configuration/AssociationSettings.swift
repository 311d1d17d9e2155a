/// Settings of DTLS, of UDP sockets.
enum AssociationSettings {
    /// In the order of the reference.
    static let all: [LimitedSourceSetting] = [
        of(
            .text(
                "pskFile", "file", \.configuration.tls.pskFile,
                "DTLS: pre-shared keys of clients, lines `identity:key`, which others cannot read ([DTLS](dtls.md)); "
                    + "udp only")),
        of(
            .choice(
                "pskCCM8", \.configuration.tls.allowsShortTags, [("true", true), ("false", false)],
                "Whether clients with pre-shared keys may use AES-CCM with tags of 8 bytes; udp only")),
        of(
            .text(
                "sealedKeyFile", "file", \.configuration.tls.sealedKeyFile,
                "[Sealed datagrams](sealed-datagrams.md): keys of senders, lines `key id:key:name`, which others "
                    + "cannot read; opt-in, and not reviewed from outside; udp only")),
        of(
            .count(
                "associations", \.configuration.associations.most, 1...1_000_000,
                "Most DTLS clients at a time; further ones are rejected; udp only")),
        of(
            .count(
                "associationsPerPeer", \.configuration.associations.mostOfHost, 1...1_000_000,
                "Most DTLS clients of one host, an IPv4 address or IPv6 /64 network; udp only")),
        of(
            .count(
                "handshakeRate", \.configuration.associations.handshakesPerSecond, 1...1_000_000,
                "Most DTLS handshakes per second, half of them by one host; udp only")),
        of(
            .duration(
                "associationIdle", \.configuration.associations.idle,
                "Idle time after which a DTLS association is closed; `0s`: never; udp only")),
    ]

    private static func of(_ setting: Setting<PipelineSettings.Source>) -> LimitedSourceSetting {
        LimitedSourceSetting(setting: setting, needs: .associations) { "it is for \($0) only" }
    }
}
