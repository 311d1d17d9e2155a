@testable import KymographCore
import KymographTestKit
import Testing
import TrialSupport

/// Whatever comes, each result of a message ends in a document or is refused, and its letter says the same of it.
@Suite struct HL7PropertyTests {
    private func message(_ random: inout SeededGenerator) -> [String] {
        var lines = [HL7Messages.header]
        for patient in 0..<Int.random(in: 1...2, using: &random) {
            if Bool.random(using: &random) { lines.append("PID|||p-\(patient)^^^H^MR~x^^^I^NI") }
            if Bool.random(using: &random) { lines.append("PV1|1|I") }
            for order in 0..<Int.random(in: 1...3, using: &random) {
                if Int.random(in: 0..<3, using: &random) == 0 { lines.append("ORC|RE") }
                lines.append("OBR|\(order)|||X|||20260301080000")
                for _ in 0..<Int.random(in: 0...5, using: &random) { lines += result(&random) }
                if Int.random(in: 0..<4, using: &random) == 0 { lines.append("SPM|1") }
            }
        }
        return lines
    }

    private func result(_ random: inout SeededGenerator) -> [String] {
        // No two of one message: what cannot be told apart is refused together.
        let code = "c\(UInt64.random(in: 0...UInt64.max, using: &random))"
        let place = "\(Int.random(in: 1...2, using: &random)).\(Int.random(in: 0...1, using: &random)).1.1"
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let place = ["1.0.0.0", "2.0.0.0", "1.1.0.0"][Int.random(in: 0..<3, using: &random)]
            return ["OBX|1||69965^MDS^MDC|\(place)|||||||X|||||||dev-\(Int.random(in: 0..<2, using: &random))"]
        case 1: return ["OBX|1|NM|\(code)^n^MDC|\(place)|x|u|||||F"]
        case 2: return ["OBX|1|NM|\(code)^n^MDC|\(place)|1|u|||||D", "NTE|1||gone"]
        default:
            let value = Int.random(in: 1..<99, using: &random)
            return ["OBX|1|NM|\(code)^n^MDC|\(place)|\(value)|u|||||F|||20260301080000.5"]
        }
    }

    private func elements(_ document: String) throws -> [JSONTree] {
        try #require(try JSONTree(parsing: Array(document.utf8))["OBX"]?.elements)
    }

    @Test(arguments: Trials.seeds(tenthOf: 2_000))
    func everyResultIsAccountedFor(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lines = message(&random)
        let reading = HL7Reading(lines)
        let results = lines.count { $0.hasPrefix("OBX|1|NM") }
        let found = try reading.documents.reduce(0) { $0 + (try elements($1).count) }
        #expect(reading.failure == nil && found + reading.refused.count == results)
        for (reason, letter) in reading.refused {
            let again = HL7Reading(letter)
            #expect(again.failure == nil && again.documents.isEmpty && again.refused.map(\.reason) == [reason])
            #expect(again.refused.first?.letter == letter)
        }
    }

    /// A result by itself is what it is among others: device, patient and time are in its letter.
    @Test(arguments: Trials.seeds(tenthOf: 2_000, from: 5_000))
    func lettersSayTheSame(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let reader = HL7Reader(HL7Needs(names: [], all: true))
        let storage = PaddedBytes(copying: HL7Messages.bytes(message(&random)))
        try reader.begin(storage.view)
        while reader.nextGroup() {
            guard reader.document.count > 0 else { continue }
            let document = reader.document.array
            var (depth, start, compared) = (0, 0, 0)
            for (index, byte) in document.enumerated() where index >= 7 {
                if byte == UInt8(ascii: "]"), depth == 0 { break }
                if byte == UInt8(ascii: "{") {
                    if depth == 0 { start = index }
                    depth += 1
                } else if byte == UInt8(ascii: "}") {
                    depth -= 1
                    guard depth == 0 else { continue }
                    let letter = reader.letter(of: start..<index + 1).array
                    let again = HL7Reading(letter)
                    let text = String(decoding: document[start...index], as: UTF8.self)
                    #expect(again.documents.first?.hasPrefix("{\"OBX\":[\(text)],") == true, "\(again.documents)")
                    compared += 1
                }
            }
            let results = try JSONTree(parsing: document)["OBX"]?.elements
            #expect(compared == results?.count)
        }
        reader.finish()
    }

    /// Bytes that are changed, cut or doubled at random places crash nothing, and give JSON or a reason.
    @Test(arguments: Trials.seeds(tenthOf: 20_000, from: 100_000))
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bytes = HL7Messages.bytes(message(&random))
        let signs = Array("|^~\\&\r\n\"OBXPIDMSH019.+-X".utf8) + [0x00, 0x0B, 0x1C, 0x7F, 0x80, 0xC3, 0xFF]
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = signs[Int.random(in: 0..<signs.count, using: &random)]
            case 1: bytes.insert(signs[Int.random(in: 0..<signs.count, using: &random)], at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...20, using: &random)))
            default: bytes += bytes[place...].prefix(200)
            }
            if bytes.isEmpty { bytes = [0x4D] }
        }
        let reading = HL7Reading(bytes, hasClock: Bool.random(using: &random))
        for document in reading.documents { _ = try elements(document) }
        #expect(reading.failure != nil || reading.refused.allSatisfy { !$0.letter.isEmpty })
    }

    /// Results of a message with much around them do not become a multiple of it.
    @Test func lettersAreBounded() {
        let patient = "PID|||" + String(repeating: "p", count: 200_000)
        let results = (0..<1_000).map { "OBX|\($0)|NM|c|1.1.1.1|1|u|||||D" }
        let reading = HL7Reading([HL7Messages.header, patient, HL7Messages.order] + results)
        #expect(reading.refused.count == 1_000)
        #expect(reading.refused.reduce(0) { $0 + $1.letter.count } < 2 << 20)
    }
}
