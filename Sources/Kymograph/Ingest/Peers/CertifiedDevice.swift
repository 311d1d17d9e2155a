import KymographCore

/// The device that the certificate of a client names, for a peer whose clients may bring readings of their own device
/// alone.
package struct CertifiedDevice: Hashable, Sendable {
    /// By which of the certificate's names.
    let kind: CertificateName.Kind
    /// Its identifier.
    let bytes: [UInt8]

    /// Kinds of names by which a device may be named. An address of mail is somebody's.
    package static let kinds: [CertificateName.Kind] = [.commonName, .serialNumber, .dnsName, .uri]

    private static let mark = ", by its certificate's "

    /// The device of a certificate with `names`, of which exactly one must be of `kind`; nil when it is not clear which
    /// one it is, and for names that are none of one device: with a `*`, or such as no reading can have.
    init?(_ names: [CertificateName], _ kind: CertificateName.Kind) {
        let own = names.filter { $0.kind == kind }
        guard own.count == 1, let bytes = own[0].bytes else { return nil }
        self.init(kind, bytes)
    }

    package init?(_ kind: CertificateName.Kind, _ bytes: [UInt8]) {
        guard Self.kinds.contains(kind), !bytes.isEmpty, !bytes.contains(UInt8(ascii: "*")),
            bytes.withByteView(\.isIdentifier)
        else { return nil }
        (self.kind, self.bytes) = (kind, bytes)
    }

    /// Stands at the end of the details of dead letters, behind ``FixedPatient/text``, with the identifier in full.
    package var text: String { "\(Self.mark)\(kind.rawValue) \(IdentifierEscapes.text(bytes))" }

    /// Divides `text`, details with ``text`` at their end. What is not exactly as ``text`` has it belongs to the rest.
    package static func divided(_ text: ArraySlice<UInt8>) -> (rest: ArraySlice<UInt8>, device: CertifiedDevice?) {
        guard let place = text.ranges(of: Array(mark.utf8)).last else { return (text, nil) }
        let words = text[place.upperBound...].split(
            separator: UInt8(ascii: " "), maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let kind = CertificateName.Kind(rawValue: String(decoding: words[0], as: UTF8.self)),
            let bytes = IdentifierEscapes.bytes(words[1]), let device = CertifiedDevice(kind, bytes)
        else { return (text, nil) }
        return (text[..<place.lowerBound], device)
    }
}
