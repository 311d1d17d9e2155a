/// What a status and an OperationOutcome mean for what was sent (spec/fhir.md section 5).
enum AnswerKind: Hashable {
    /// It is stored.
    case stored
    /// It is too large; less of it may be taken.
    case tooLarge
    /// The server will not take it, now or later.
    case refused
    /// The server may take it later.
    case later
    /// It looks like a mistake in the set-up; it may be the content after all when the server takes the content of
    /// others.
    case doubtful

    private static let transient: Set<String> = [
        "transient", "lock-error", "no-store", "exception", "timeout", "incomplete", "throttled",
    ]

    /// Failures after which a 409, or a refusal that its OperationOutcome calls transient, is believed.
    private static let patience = 4

    /// Judges one entry, or a whole answer when `isWhole`, that had `failures` failures before.
    init(status: Int, outcome: ServerOutcome?, failures: Int, isWhole: Bool) {
        let codes = Set(outcome?.codes ?? [])
        switch status {
        case 200..<300: self = .stored
        case 408, 429: self = .later
        case 413: self = .tooLarge
        case _ where codes.contains("too-costly") || codes.contains("too-long"): self = .tooLarge
        case 500...599: self = .later
        case 409 where !codes.contains("duplicate") && failures < Self.patience: self = .later
        case 400, 409, 412, 422:
            self = !codes.isDisjoint(with: Self.transient) && failures < Self.patience ? .later : .refused
        default: self = isWhole ? .doubtful : .refused
        }
    }
}
