/// A setting whose change a running instance does not take over, or an error in what it would read.
package struct ReloadObstacle: Codable, Hashable, Sendable {
    /// The configuration file as the instance names it, or `environment` or `command line`.
    package var file: String
    /// Where in the file, both from 1 on.
    package var line: Int
    package var column: Int
    /// What is wrong, in one sentence without a final stop.
    package var message: String
    /// What to do; empty when the message says it.
    package var advice: String
}
