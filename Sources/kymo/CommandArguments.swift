import ArgumentParser
import KymographCore
import KymographTestKit

/// `--speed`: a factor, or `max`.
struct SpeedArgument: ExpressibleByArgument, Sendable {
    let pace: Pacer.Pace
    let defaultValueDescription: String

    /// As fast as devices would send.
    static let realTime = SpeedArgument(pace: .speed(1), text: "1")

    private init(pace: Pacer.Pace, text: String) {
        self.pace = pace
        defaultValueDescription = text
    }

    init?(argument: String) {
        defaultValueDescription = argument
        if argument == "max" {
            pace = .unlimited
        } else if let factor = Double(argument), factor > 0, factor.isFinite {
            pace = .speed(factor)
        } else {
            return nil
        }
    }
}

/// A length of time such as `250ms`, `20s`, `5m`, `1h` or `1d`.
struct LengthArgument: ExpressibleByArgument, Sendable {
    let nanoseconds: Int64
    let defaultValueDescription: String

    /// A length that a command falls back to; `text` is how the help spells it.
    init(seconds: Int64, text: String) {
        nanoseconds = seconds * 1_000_000_000
        defaultValueDescription = text
    }

    init?(argument: String) {
        guard let length = DurationText.parse(argument) else { return nil }
        nanoseconds = length
        defaultValueDescription = argument
    }
}
