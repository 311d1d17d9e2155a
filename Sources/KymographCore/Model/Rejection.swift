/// Every reason for which a reading does not arrive. Counted per source, dead-lettered with its bytes, never thrown.
///
/// Raw values are stored in journals and dead-letter files: never renumber, only append.
public enum Rejection: UInt8, CaseIterable, Sendable, BitwiseCopyable {
    /// The payload is not JSON (RFC 8259).
    case invalidJSON = 0
    /// The payload is not UTF-8.
    case invalidUTF8 = 1
    /// The payload nests deeper than the cap.
    case tooDeep = 2
    /// The payload has more values than the cap.
    case tooManyValues = 3
    /// A line is longer than the cap; the rest of it was skipped.
    case lineTooLong = 4
    /// A datagram is longer than the receive buffer; the kernel cut it.
    case truncatedDatagram = 5
    /// No template of the source's mappings matches.
    case noTemplate = 6
    /// The reading names no device, and its source states none.
    case noDevice = 7
    /// The reading names no time.
    case noTimestamp = 8
    /// The time is not in the declared format, or outside 1678…2262.
    case invalidTimestamp = 9
    /// A required value is missing.
    case missingValue = 10
    /// A required value is null.
    case nullValue = 11
    /// A value has the wrong type, or is not what the FHIR template's valueType needs.
    case invalidValue = 12
    /// A number has more than 18 significant digits or an exponent outside -100…100, so it cannot be kept exactly.
    case inexactNumber = 13
    /// An expression that must give one value gave several.
    case ambiguousExpression = 14
    /// The reading names no patient and `identity: strict` demands one.
    case noPatient = 15
    /// The type needs a correlation id and the reading has none.
    case noCorrelation = 16
    /// The measurement type has no FHIR template.
    case noFHIRTemplate = 17
    /// The reading's time is further in the future than `maxFuture` after its receipt.
    case clockAhead = 18
    /// A device over the cap on devices.
    case tooManyDevices = 19
    /// A window over the cap on open windows.
    case tooManyWindows = 20
    /// A reading over the cap on readings in one window.
    case tooManyReadings = 21
    /// The window was emitted and has since been evicted from the archive: a partial must not replace it.
    case archiveEvicted = 22
    /// An identifier or text is longer than the cap.
    case valueTooLong = 23
    /// The process was told to stop before the reading could be delivered.
    case shutdown = 24
    /// The payload names a unit that the mapping does not list, or none.
    case unknownUnit = 25
    /// A value that the mapping's `map` does not list.
    case unmappedValue = 26
    /// An expression failed while it was evaluated: an argument of the wrong type, a division by zero.
    case expressionFailed = 27
    /// An error elsewhere in the event ended it, as compatibility with the reference system demands.
    case eventAborted = 28
    /// The samples of a waveform are more than one reading can hold.
    case tooManySamples = 29
    /// A server refused the entry, and would refuse it again.
    case serverRefused = 30
    /// The entry alone is larger than a server takes.
    case entryTooLarge = 31
    /// A server has no Device, Patient or Encounter of the reading's identifier.
    case identityNotFound = 32
    /// A server has several resources of one identifier.
    case identityAmbiguous = 33
    /// The reading lacks the patient or encounter that the sink's identity mode needs.
    case identityNotDefined = 34
    /// A server's Device belongs to another patient than the reading; or the patient map says another patient or
    /// encounter than the message.
    case patientDeviceMismatch = 35
    /// The Observation cannot be merged into the one that a server holds.
    case mergeFailed = 36
    /// What waited for a sink cannot be read, or is nothing that a server could process.
    case malformedBundle = 37
    /// The window was emitted and its archived content is damaged: a partial must not replace it.
    case archiveDamaged = 38
    /// A server failed at the entry again and again, and took others meanwhile.
    case serverFailed = 39
    /// A frame of a byte stream is longer than the cap. After one whose length was stated, the stream is closed.
    case frameTooLong = 40
    /// Bytes that are no frame of the source's framing.
    case frameMalformed = 41
    /// A frame does not have the checksum that it states.
    case frameChecksum = 42
    /// The stream ended within a frame, or a serial line within a line.
    case frameIncomplete = 43
    /// A packet is shorter than its own flags say.
    case truncatedPacket = 44
    /// A packet contradicts itself: a size or date that cannot be, bytes that no field has.
    case malformedPacket = 45
    /// The checksum of a packet is not that of its bytes.
    case wrongChecksum = 46
    /// A packet states what cannot be in nature, such as a negative concentration.
    case implausibleValue = 47
    /// A glucose meter was tested with a control solution: the result is nobody's.
    case controlSolution = 48
    /// A device demonstrates or tests itself: the result is nobody's.
    case testMeasurement = 49
    /// A bridge's frame is none, or its packet is neither hexadecimal nor base64.
    case invalidBridgeFrame = 50
    /// No decoder and no mapping of the source knows the characteristic.
    case unknownCharacteristic = 51

    /// A serial line was opened within a line or frame: this is the rest of it.
    case beginningMissed = 52
    /// An identifier holds a control character or half of a surrogate pair, or is not UTF-8.
    case invalidIdentifier = 53

    /// Another reading of the same id, or of the same time, has taken its place, or keeps it.
    case superseded = 54

    /// A time without offset that the wall clock of the source's time zone shows twice or never, on the day on which
    /// it is changed.
    case ambiguousLocalTime = 55

    /// The header row of a table names two columns alike or one not at all, or seems to have another delimiter.
    case tableHeader = 56
    /// A row of a table has more or fewer fields than its header, or quotes that are not as RFC 4180 has them.
    case tableRow = 57
    /// Compressed input is damaged or cut: what is behind the place cannot be read.
    case compressedInput = 58
    /// The buffer to the windows was full, and the source drops what does not fit (`whenFull: dropNewest`). Counted,
    /// without a dead letter, which would need the room that is lacking.
    case bufferFull = 59
    /// The sender may not bring readings of the device, by the list of peers.
    case deviceNotAllowed = 60
    /// The sender may not bring readings of the patient, or of none, by the list of peers.
    case patientNotAllowed = 61
    /// The sender has brought more readings than the list of peers lets it.
    case rateLimited = 62
    /// The list of peers does not know the sender.
    case unknownPeer = 63

    /// The payload is no message of HL7 v2: no MSH with distinct delimiters, a segment without a name, or one twice
    /// that may be there once.
    case malformedMessage = 64
    /// An HL7 v2 message of another type than ORU^R01, of another version than 2.x, or a part of one.
    case unsupportedMessage = 65
    /// The character set of an HL7 v2 message (MSH-18) is none that is read, or its bytes are not of it.
    case unsupportedCharset = 66
    /// The status (OBX-11) or a flag (OBX-8) of an HL7 v2 result says that there is none, that it is a test, that it
    /// was withdrawn, or may still change.
    case resultStatus = 67
    /// A time has no offset from UTC, and nothing says of which clock it is.
    case unknownTimeZone = 68
    /// A broker has sent a message of a topic that no filter of the source has.
    case topicNotSubscribed = 69

    /// The patient map does not say whose the device is at the time of the reading.
    case patientUnknown = 70
    /// A reading of the same device, type and time, or of the same id, was filed for another patient or encounter.
    case patientChanged = 71
    /// A rule drops the reading. Counted, without a dead letter.
    case droppedByRule = 72
    /// A rule rejects the reading.
    case rejectedByRule = 73

    /// The source does not take readings of the type (`types` of the source).
    case typeNotAllowed = 74
    /// The reading is of the time at which the source was to end, or later (`until` of the source).
    case afterStopDate = 75
    /// The type is paused.
    case typePaused = 76
    /// The source is paused, and whoever sends to it does not wait.
    case sourcePaused = 77

    /// The reading was taken back by its sender, and has left its window; or it came again after that.
    case retracted = 78
    /// A retraction names a reading that is not there. It keeps the reading out if that comes later.
    case unknownRetraction = 79
    /// A retraction fits several readings, or may do so, and takes none of them.
    case ambiguousRetraction = 80
    /// An expression of a rule has failed at the reading, or what it gave is no value of the type.
    case ruleFailed = 81

    /// The value of a record whose headers are read is no JSON document, or has an envelope of its own: it cannot be
    /// the body of an event beside them.
    case noEnvelope = 82

    /// A datagram that is not sealed, at a source that takes sealed ones only.
    case notSealed = 83
    /// The source has no key of the id that a sealed datagram names.
    case unknownKey = 84
    /// A sealed datagram that was changed, or sealed by another key than the one that it names.
    case sealBroken = 85
    /// A sealed datagram whose sequence number has come before. Counted, without a dead letter.
    case sequenceRepeated = 86
    /// A sealed datagram whose sequence number is so low that nobody knows whether it has come before.
    case sequenceStale = 87

    /// Places of a list that is indexed by raw values.
    package static let placeCount = Int(allCases.map(\.rawValue).max() ?? 0) + 1

    /// The name used in summaries, dead letters and metrics.
    public var name: String { String(describing: self) }
}
