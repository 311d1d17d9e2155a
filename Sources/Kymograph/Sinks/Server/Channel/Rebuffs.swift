import KymographCore

/// Answers that turned one request or entry down for now. Many of them mean that it is to blame itself, if the server
/// took others in between.
struct Rebuffs {
    /// Rebuffs after which a bundle is sent in parts, or a doubtful refusal is believed if others were taken since.
    private static let doubt = 6
    /// Rebuffs after which a lone entry is given up, if others were taken between them.
    private static let patience = 30
    /// Time after which it is given up although no others were there to be taken, in nanoseconds.
    private static let longest: Int64 = 86_400 * 1_000_000_000

    /// How many.
    private(set) var count = 0
    /// How many of them came after the server had taken something else since the one before.
    private var vouched = 0
    private var seen: Int
    private var first: Instant?

    /// None so far; `taken` is how much the server has taken.
    init(taken: Int = .max) { seen = taken }

    /// Notes one. Those that may be about the server or the way to it (`isOwn` false) count only when others got
    /// through.
    mutating func note(taken: Int, now: Instant, isOwn: Bool) {
        let isVouched = taken > seen
        seen = taken
        guard isOwn || isVouched else { return }
        count += 1
        if isVouched { vouched += 1 }
        first = first ?? now
    }

    /// Whether `outcome` is one: nil when it says nothing about what was sent, else whether it is surely not about the
    /// way to the server.
    static func isOwn(_ outcome: Exchange.Outcome) -> Bool? {
        switch outcome {
        case .failure(let failure): return [.lost, .timeout, .tooLong].contains(failure.kind) ? false : nil
        case .success(let response):
            switch response.status {
            // Not now, whatever it is.
            case 401, 429, 503: return nil
            case 400..<500: return response.status != 408
            case 500, 501: return true
            default: return false
            }
        }
    }

    /// Whether the content may be to blame.
    var isDoubtful: Bool { count >= Self.doubt }

    /// Whether the content is to blame as it seems: others were taken.
    var isSuspicious: Bool { isDoubtful && vouched > 0 }

    /// Whether what they are about is to be given up. `isBlocking`: all that waits behind it was taken.
    func isExhausted(now: Instant, isBlocking: Bool) -> Bool {
        guard count >= Self.patience, let first else { return false }
        return vouched >= Self.patience || isBlocking || now.nanoseconds - first.nanoseconds >= Self.longest
    }
}
