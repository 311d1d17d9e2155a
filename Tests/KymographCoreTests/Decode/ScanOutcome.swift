import KymographCore

/// What the scanner says about a document: how many values it has, or why and where it was refused.
enum ScanOutcome: Equatable, CustomStringConvertible {
    case values(Int)
    case refused(Rejection, Int)

    /// Validates `document`, followed in memory by `tail`, which is not part of it.
    init(
        _ document: some Collection<UInt8>, tail: [UInt8] = [], names: [String] = [],
        limits: ScanLimits = ScanLimits()
    ) {
        let storage = PaddedBytes(copying: Array(document) + tail)
        var validator = JSONValidator(names: names, limits: limits)
        do throws(ScanFailure) {
            self = .values(try validator.validate(storage.view(0..<document.count)))
        } catch {
            self = .refused(error.reason, error.offset)
        }
    }

    init(_ text: String, limits: ScanLimits = ScanLimits()) {
        self.init(Array(text.utf8), limits: limits)
    }

    var isValid: Bool { if case .values = self { true } else { false } }

    var reason: Rejection? { if case .refused(let reason, _) = self { reason } else { nil } }

    var description: String {
        switch self {
        case .values(let count): "\(count) values"
        case .refused(let reason, let offset): "\(reason) at \(offset)"
        }
    }
}
