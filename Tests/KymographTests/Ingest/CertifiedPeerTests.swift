@testable import Kymograph
import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Which peer of a list a certificate is of, beside a small model.
@Suite struct CertifiedPeerTests {
    private struct Entry {
        var pattern: String
        var kind: CertificateName.Kind?
    }

    /// Names that are alike, and that overlap.
    private static let names = ["a", "ab", "abc", "b", "*", "a*", "\u{E9}", "e\u{301}"]
    private static let patterns = ["a", "ab", "abc", "b", "*", "a*", "ab*"]

    /// The place of the entry that a certificate with `names` is of, and the device that it may bring; nil for none.
    private func model(_ entries: [Entry], _ names: [CertificateName]) -> (place: Int, device: [UInt8]?)? {
        var found: [Int] = []
        for (place, entry) in entries.enumerated() {
            let isPrefix = entry.pattern.last == "*"
            let pattern = Array(entry.pattern.utf8)
            let isNamed = names.contains { name in
                guard isPrefix else { return name.kind != .serialNumber && name.bytes == pattern }
                guard name.kind == entry.kind else { return false }
                return name.bytes?.starts(with: pattern.dropLast()) ?? true
            }
            if isNamed { found.append(place) }
        }
        guard found.count == 1 else { return nil }
        guard let kind = entries[found[0]].kind else { return (found[0], nil) }
        let own = names.filter { $0.kind == kind }
        guard own.count == 1, let bytes = own[0].bytes, !bytes.contains(UInt8(ascii: "*")) else { return nil }
        return (found[0], bytes)
    }

    @Test(arguments: Trials.seeds(40)) func aCertificateIsOfOnePeerOrNone(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let kinds = CertificateName.Kind.allCases
        for _ in 0..<200 {
            let patterns = Self.patterns.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
            let entries = patterns.map { pattern in
                let isFree = pattern.last != "*" && Bool.random(using: &random)
                return Entry(pattern: pattern, kind: isFree ? nil : CertifiedDevice.kinds.randomElement(using: &random))
            }
            let list = PeerList(
                entries.enumerated().map { place, entry in
                    var rule = PeerRule()
                    rule.proof = .certificate(IdentifierPattern(entry.pattern))
                    (rule.deviceFrom, rule.name) = (entry.kind, "\(place)")
                    return rule
                })
            let names = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                let name = Int.random(in: 0..<8, using: &random) == 0 ? nil : Self.names.randomElement(using: &random)
                return CertificateName(
                    kinds.randomElement(using: &random) ?? .uri, name.map { Array($0.utf8) })
            }
            let found = list.peer(PeerIdentity(names: names))
            let expected = model(entries, names)
            #expect(found?.single.name == expected.map { "\($0.place)" }, "\(entries) \(names)")
            #expect(found?.single.device?.bytes == expected?.device, "\(entries) \(names)")
            #expect(found?.requested.device == found?.single.device)
        }
    }

    /// Bytes of a certificate that are no text are a name all the same, and one that nobody can have.
    @Test func namesThatCannotBeRead() {
        for bytes in [[0], [0x61, 0], [0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            #expect(CertificateName(.uri, found: bytes).bytes == nil, "\(bytes)")
        }
        #expect(CertificateName(.uri, found: Array("urn:x".utf8)).bytes == Array("urn:x".utf8))
        #expect(CertificateName(.uri, found: []).bytes == [])
    }
}
