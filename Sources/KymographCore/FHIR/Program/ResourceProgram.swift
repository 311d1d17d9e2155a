/// One step of writing a resource that is no Observation.
///
/// What a reading does not say is left out: a member is opened, written, and taken back when it turns out to hold
/// nothing of the reading. So the program is flat, and neither commas nor empty objects have to be foreseen.
package struct ResourceStep: BitwiseCopyable {
    package enum Code: UInt8, BitwiseCopyable {
        /// Constant bytes.
        case literal
        /// A separator where one is needed, and constant bytes: the start of a member or of an element of a list.
        case open
        /// The end of what was opened last.
        case close
        /// An element of a list that is constant.
        case filled
        /// Holes of a field.
        case text, word, number, boolean, time
        case start, end, received
        /// The members of a Reference.
        case patient, device, encounter, gateway
        /// An Identifier.
        case patientIdentifier, deviceIdentifier, encounterIdentifier, gatewayIdentifier
        /// What the writer states: the id with its member, and the Identifier.
        case id, identity

        /// What the writer does at such a step.
        var role: Role {
            switch self {
            case .literal: .literal
            case .open: .open
            case .close: .close
            case .filled, .text, .word, .number, .boolean, .time, .start, .end, .received, .patient, .device,
                .encounter, .gateway, .patientIdentifier, .deviceIdentifier, .encounterIdentifier,
                .gatewayIdentifier, .id, .identity:
                .hole
            }
        }
    }

    /// What kinds of steps there are.
    enum Role {
        case literal, open, close
        /// It depends on the reading, or on the writer.
        case hole
    }

    package var code: Code
    /// Whether what holds it makes no sense without it.
    package var isDemanded = false
    /// Index among the type's fields.
    package var field: UInt16 = 0
    /// Constant bytes; of a hole the codes that it can have, each with a blank on both sides, or nothing.
    package var start: Int32 = 0
    package var end: Int32 = 0

    /// Where the constant bytes are.
    var places: Range<Int> { Int(start)..<Int(end) }

    package init(code: Code, isDemanded: Bool = false, start: Int32 = 0, end: Int32 = 0) {
        (self.code, self.isDemanded, self.start, self.end) = (code, isDemanded, start, end)
    }
}

/// The resource of one type of measurements.
package struct ResourceProgram: BitwiseCopyable {
    var stepStart = 0
    package var stepEnd = 0
    /// The resource's type, among the constants.
    package var nameStart = 0
    package var nameEnd = 0
    var identity = ResourceIdentity.reading
    /// Whether it refers to the Patient and to the Device of the reading.
    package var refersToPatient = false
    package var refersToDevice = false
    package var refersToGateway = false
    /// Whether Patient, Device and Encounter have the reference's identifier systems.
    package var isReference = false

    package init(stepStart: Int = 0, identity: ResourceIdentity = ResourceIdentity.reading) {
        (self.stepStart, self.identity) = (stepStart, identity)
    }
}

/// A member that is being written.
struct ResourceFrame: BitwiseCopyable {
    /// Where its bytes begin.
    var mark = 0
    /// What it has of the reading, and what the reading lacks.
    var filled = 0
    var missing = 0
    /// Whether something is missing without which it makes no sense.
    var isBroken = false

    /// Whether it is taken back.
    var isDropped: Bool { isBroken || (missing > 0 && filled == 0) }
}
