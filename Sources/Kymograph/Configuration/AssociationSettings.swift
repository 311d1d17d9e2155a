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
            .count(
                "associations", \.configuration.associations.most, 1...1_000_000,
                "Most clients by DTLS at a time; further ones are refused; udp only")),
        of(
            .count(
                "associationsPerPeer", \.configuration.associations.mostOfHost, 1...1_000_000,
                "Most of one host; udp only")),
        of(
            .count(
                "handshakeRate", \.configuration.associations.handshakesPerSecond, 1...1_000_000,
                "Most handshakes by DTLS that begin within a second; udp only")),
        of(
            .duration(
                "associationIdle", \.configuration.associations.idle,
                "How long a client by DTLS may be silent before it has to begin again; `0s` means for ever; udp only")),
    ]

    private static func of(_ setting: Setting<PipelineSettings.Source>) -> LimitedSourceSetting {
        LimitedSourceSetting(setting: setting, needs: .associations) { "it is for \($0) only" }
    }
}
