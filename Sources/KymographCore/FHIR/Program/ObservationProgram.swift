/// One step of writing an Observation: constant bytes, or a hole to fill.
package struct ProgramStep: BitwiseCopyable {
    package enum Code: UInt8, BitwiseCopyable {
        /// Constant bytes.
        case literal
        /// What separates or opens components, then constant bytes.
        case component
        /// Closes the components when any was written.
        case endComponents
        case id, identifier, status, subject, device, effective
        /// Constant bytes that open the reference to an encounter, where there is one.
        case encounter
        /// Numbers and texts of a field.
        case result, minimum, maximum, count, text
        /// The origin's number of a compact series.
        case origin
        /// Period, factor, dimensions and data of a field's series.
        case series
        /// The same of a series whose `data` may leave the Observation; the start is the number of its
        /// ``AttachmentProgram``.
        case attachableSeries
        /// What an Observation says of data that have left it.
        case derivedFrom
        /// The member that says when the last reading was received, in the reference's form.
        case referenceIssued
        /// The comparator, the second number of a pair, and what else a checked field holds.
        case comparator, second, boolean, yesNo, time, period, range
        /// Why a value is absent, what it means, a figure of the window, the member that says when it came.
        case reason, interpretation, figure, issued
        /// What the Personal Health Devices guide has in its own way.
        case gateway, guideStatus, guideIdentifier
        /// All of a resource that is no Observation, and all of a summary of glucose.
        case resource, summary
        /// Tags of the readings; the field is the ``TagPlace``.
        case tags
        /// Seconds since 1970 of the start and the end of what is covered.
        case startSeconds, endSeconds
    }

    /// When a step is taken, by the facts of its field.
    package enum Condition: UInt8, BitwiseCopyable {
        case always, present, absent, several
        /// The value is absent, and it is known why.
        case explained
        /// There are several readings, and their series can be written, or cannot.
        case charted, uncharted
    }

    package var code: Code
    package var condition: Condition = .always
    /// Index among the type's fields.
    package var field: UInt16 = 0
    /// Constant bytes.
    package var start: Int32 = 0
    package var end: Int32 = 0

    /// Where the constant bytes are.
    @inline(__always)
    var places: Range<Int> { Int(start)..<Int(end) }

    package init(code: Code, condition: Condition = .always, field: UInt16 = 0, start: Int32 = 0) {
        (self.code, self.condition, self.field, self.start) = (code, condition, field, start)
    }
}

/// Where the tags of readings are written.
package enum TagPlace: UInt16, BitwiseCopyable {
    /// Behind those of the template.
    case behindOthers
    /// Behind other members of `meta`.
    case behindMembers
    /// Where nothing else of `meta` is written.
    case alone

    var opening: StaticString {
        switch self {
        case .behindOthers: ","
        case .behindMembers: ",\"tag\":["
        case .alone: ",\"meta\":{\"tag\":["
        }
    }

    var closing: StaticString {
        switch self {
        case .behindOthers: ""
        case .behindMembers: "]"
        case .alone: "]}"
        }
    }
}

/// One value that a template reads, as numbers.
package struct ProgramField: BitwiseCopyable {
    package enum Kind: UInt8, BitwiseCopyable {
        /// The latest reading's number.
        case number
        /// The latest reading's text.
        case text
        /// Whether any reading has it.
        case presence
        /// Mean or sum of all, least and greatest.
        case statistics
        /// All, on a grid of times.
        case series
        /// The latest reading's value, whose form has to be looked at.
        case checked
    }

    package var kind: Kind
    /// Value slot of the measurement type; -1 when no device template gives the value.
    package var slot: Int32
    package var aggregate: StatisticsRule.Aggregate = .mean
    package var collision: SlotCollision = .latest
    /// Whether a series is written.
    package var hasSeries = false
    /// Nanoseconds between samples; 0 takes them from the data.
    package var period: Int64 = 0
    /// Whether ``extras`` says anything.
    package var isExtended = false
    package var extras = FieldExtras()
    /// What the series' device can measure.
    package var limits = SeriesLimits()
    /// Whether the series' origin and factor are chosen to shorten.
    package var isCompact = false

    package init(
        kind: Kind, slot: Int32, aggregate: StatisticsRule.Aggregate = .mean, period: Int64 = 0,
        limits: SeriesLimits = SeriesLimits()
    ) {
        (self.kind, self.slot, self.aggregate, self.period) = (kind, slot, aggregate, period)
        self.limits = limits
    }
}

/// The place of one type's program, and what its Observations cover.
package struct TypeProgram: BitwiseCopyable {
    package enum Segment: UInt8, BitwiseCopyable {
        case instance, window, correlation
    }

    /// Whether its readings become Observations.
    package var hasTemplate = false
    /// Index of the resource that its readings become in place of Observations, or -1.
    package var resource: Int32 = -1
    /// Index of the summary that its windows become in place of one Observation, or -1.
    package var summary: Int32 = -1
    package var stepStart = 0
    package var stepEnd = 0
    package var fieldStart = 0
    package var fieldEnd = 0
    /// The type's name, escaped for identities.
    package var nameStart = 0
    package var nameEnd = 0
    /// The template's own tags (``ReadingTags``).
    package var tagStart = 0
    package var tagEnd = 0
    package var durationSlot = -1
    /// The slot of a reading's id, or -1.
    package var idSlot = -1
    package var segment: Segment = .instance
    /// `effective[x]` covers the window and not just the readings.
    package var coversWindow = false
    /// Whether Observations have the reference's shape and identity (``IomtFHIRShape``), with quirks 16 and 17 of the
    /// mapping dialect: identities of whole seconds, Observations without any value.
    package var isCompatible = false
    /// SampledData counts from the start of effectivePeriod, so there must be one even for a single instant.
    package var needsPeriod = false
    package var effectiveForm = EffectiveForm.automatic
    /// The ``AttachmentProgram``s of its series.
    package var attachmentStart = 0
    package var attachmentEnd = 0
    /// Whether what is complete is called `preliminary`.
    package var isPreliminary = false

    package init(durationSlot: Int = -1) {
        self.durationSlot = durationSlot
    }

    /// Whether an Observation takes each of its values from another reading, of those that share a correlation id. In
    /// the reference's shape the latest reading decides.
    @inline(__always)
    var isJoined: Bool { segment == .correlation && !isCompatible }
}
