import KymographCore

/// The version of the mapping language that a file needs, as its member `dialect` says it.
package enum MappingDialect {
    /// The version that is read here. It is raised when a file can ask for something that earlier versions of kymo
    /// refuse or would read otherwise; docs/mapping-language.md lists what each has brought.
    package static let version = 1

    /// The member.
    static let member = "dialect"

    /// Whether the file that `root` reads can be read here: it needs no later version. What is wrong is noted, and
    /// nothing else is to be said of a file that needs a later version: its unknown members are what that has brought.
    static func isReadable(_ root: FieldReader, log: inout DiagnosticLog) -> Bool {
        guard let node = root.optional(member, "a number", log: &log), let text = node.numberText else { return true }
        guard let needed = UInt32(text), needed > 0 else {
            log.error(
                node.position, "the dialect '\(text)' is no whole number from 1",
                advice: "write \(version), or leave it out", finding: .unknownChoice)
            return true
        }
        guard needed > version else { return true }
        log.error(
            node.position, "the mapping is written for dialect \(needed), and this kymo reads dialect \(version)",
            advice: "run a later kymo ('kymo capabilities' names the dialect that one reads), or an earlier version of "
                + "the mapping", finding: .newerDialect)
        return false
    }
}
