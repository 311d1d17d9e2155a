/// One name in a certificate.
package struct CertificateName: Hashable, Sendable {
    /// What it is a name of.
    package enum Kind: String, CaseIterable, Sendable {
        /// Of the subject (X.520, section 6.2.2).
        case commonName
        /// The attribute of the subject (X.520, section 6.2.9), which certificates of manufacturers have
        /// (IEEE 802.1AR, section 8.6); not the certificate's own number.
        case serialNumber
        /// A host, as alternative name.
        case dnsName
        /// A URI, as alternative name.
        case uri
        /// An address of mail, as alternative name.
        case mail
    }

    package var kind: Kind
    /// Its bytes in UTF-8; nil for one that is not UTF-8, or has a zero byte, which could be another name's end.
    package var bytes: [UInt8]?

    package init(_ kind: Kind, _ bytes: [UInt8]?) { (self.kind, self.bytes) = (kind, bytes) }

    /// One with `bytes` as the certificate has them.
    init(_ kind: Kind, found bytes: [UInt8]) {
        let isText = !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        self.init(kind, isText ? bytes : nil)
    }
}
