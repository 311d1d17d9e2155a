@testable import KymographCore

/// What became of a message: documents of its groups, and what is in none, with the texts of their dead letters.
struct HL7Reading {
    var documents: [String] = []
    var refused: [(reason: Rejection, letter: [UInt8])] = []
    /// Why the message as a whole, or the rest of it, is not read.
    var failure: Rejection?

    /// Reads `message`; with `names`, documents have what expressions with these names look at.
    init(_ message: [UInt8], hasClock: Bool = false, names: [String]? = nil) {
        let reader = HL7Reader(HL7Needs(names: names ?? [], all: names == nil))
        reader.hasClock = hasClock
        let storage = PaddedBytes(copying: message)
        do throws(ScanFailure) {
            try reader.begin(storage.view)
            while reader.nextGroup() {
                if reader.document.count > 0 { documents.append(reader.document.string) }
                for index in 0..<reader.refusalCount {
                    let refusal = reader.refusal(index)
                    refused.append((refusal.reason, reader.letter(of: refusal.result).array))
                }
            }
        } catch {
            failure = error.reason
        }
        reader.finish()
    }

    init(_ lines: [String], hasClock: Bool = false, names: [String]? = nil) {
        self.init(HL7Messages.bytes(lines), hasClock: hasClock, names: names)
    }
}

/// Messages of tests.
enum HL7Messages {
    static let header = "MSH|^~\\&|GW|WARD|KYMO|HOSPITAL|20260301080001+0100||ORU^R01|M1|P|2.6"
    static let patient = "PID|||p-1"
    static let order = "OBR|1|||X|||20260301080000"
    /// A result that is read, and whose fields are few.
    static let result = "OBX|1|NM|c^n^MDC|1.1.1.1|72|u|||||F|||||||dev"

    static func bytes(_ lines: [String]) -> [UInt8] { Array(lines.joined(separator: "\r").utf8) }
}
