import FoundationEssentials
import KymographCore

/// What has come from where: sources with their devices and types. For people and, as JSON, for programs. Times are RFC
/// 3339 texts in UTC.
package struct SourceReport: Codable, Sendable {
    /// One source of this run or an earlier one.
    package struct Source: Codable, Sendable {
        /// Its name.
        package var name: String
        /// `open`: an instance runs and has it; `paused`; `absent`: the instance that runs has it not; `stopped`: no
        /// instance runs.
        package var state = "stopped"
        /// Devices that it has brought readings of, those left out that were removed.
        package var devices = 0
        /// Names of the types of the readings.
        package var types: [String] = []
        /// Time of the earliest and of the latest of its readings that are known: to the hour of the window's start
        /// where the archive has dropped it. Of a window with readings of several sources, those of the window.
        package var first: String?
        package var last: String?
        /// Readings that it gave, duplicates and rejected ones included.
        package var received = 0
        /// Readings in windows.
        package var readings = 0
        /// Readings that were rejected before their device was known.
        package var rejected = 0
        /// Datagrams that the kernel dropped.
        package var kernelDropped = 0

        init(name: String) { self.name = name }
    }

    /// Readings of one device and type.
    package struct Series: Codable, Sendable {
        /// The device.
        package var device: IdentifierText
        /// Name of the type.
        package var type: String
        /// Names of the sources that brought them, of which there is no name beyond the fifteenth.
        package var sources: [String]
        /// Time of the earliest and of the latest reading that are known, as of ``Source/first``.
        package var first: String?
        package var last: String?
        /// Readings.
        package var readings: Int
    }

    /// By name.
    package var sources: [Source] = []
    /// By device and type.
    package var series: [Series] = []
}

/// Devices and sources that are to be listed no more.
package struct RemovalRequest: Codable, Sendable {
    /// Names of sources.
    package var sources: [String]
    /// Devices.
    package var devices: [IdentifierText]

    /// A request.
    package init(sources: [String], devices: [IdentifierText]) { (self.sources, self.devices) = (sources, devices) }
}
