/// What a window machine holds at a moment, and what it has lost.
public struct WindowCounters: Equatable, Sendable {
    /// Series introduced.
    public var series: Int
    /// Devices introduced.
    public var devices: Int
    /// Windows in memory: filling, or waiting to be emitted.
    public var openWindows: Int
    /// Readings of the windows in memory.
    public var readingsHeld: Int
    /// Bytes of memory of the readings in windows: in use, or left by windows that have ended and used again.
    public var readingBytes: Int
    /// Bytes that the archive keeps.
    public var archivedBytes: Int
    /// Closed windows that the archive had to drop to stay within its limit.
    public var evictedWindows: Int
    /// Archived windows that could not be read back.
    public var damagedWindows: Int
}
