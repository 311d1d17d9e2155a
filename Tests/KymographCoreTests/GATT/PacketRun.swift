import Foundation

@testable import KymographCore

/// A mapping that keeps every member of its packets as the text that it is, and what it makes of packets.
struct PacketRun {
    /// All members that packets can have.
    static let members = Set(GATTCharacteristic.commonMembers + GATTCharacteristic.allCases.flatMap(\.members)).sorted()

    var run: MappingRun

    /// Reads payloads of the kind `payload`; `top` are further members of the file, each with a comma before it.
    init(_ payload: String, top: String = "", members: [String] = PacketRun.members) throws {
        let values = members.map { #"{"valueName":"\#($0)","valueExpression":"$.\#($0)"}"# }
        run = try MappingRun(
            device: """
                {"templateType":"CollectionContent","payload":"\(payload)"\(top),"template":[
                {"templateType":"JsonPathContent","template":{"typeName":"t",
                "typeMatchExpression":"$..[?(@characteristic)]","deviceIdExpression":"$.device",
                "timestampExpression":"$.received","values":[\(values.joined(separator: ","))]}}]}
                """)
        run.context = SourceContext(defaultDevice: Array("default".utf8), maxFuture: .max)
    }

    /// What one datagram gives.
    func datagram(_ bytes: [UInt8]) -> MappingRun.Outcome { datagrams([bytes]) }

    /// What datagrams give to one mapper.
    func datagrams(_ payloads: [[UInt8]]) -> MappingRun.Outcome { run.datagrams(payloads) }

    /// What one packet gives, written in hexadecimal.
    func packet(_ hex: String) -> MappingRun.Outcome { datagram(PacketRun.bytes(hex)) }

    /// What one frame in JSON gives.
    func frame(_ members: String) -> MappingRun.Outcome { datagram(Array("{\(members)}".utf8)) }

    /// The bytes that `hex` spells; blanks are passed over, `-` spells none.
    static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
