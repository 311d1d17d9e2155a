import Foundation

/// Whether the long forms of tests were asked for: `KYMO_TORTURE`.
enum TortureLevel {
    static let environment = ProcessInfo.processInfo.environment
    static let isAsked = environment["KYMO_TORTURE"] != nil
}
