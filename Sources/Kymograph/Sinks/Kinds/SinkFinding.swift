package import KymographCore
package import KymographTemplates

/// What the check of a sink has to know beside the sink.
package struct SinkCircumstances: Sendable {
    /// Keys of the kind's own settings that the configuration states.
    package var stated: Set<String>
    /// What these keys begin with in messages: `server.` where they are those of the only server.
    package var prefix = ""
    /// How Observations and bundles are written.
    package var output: ObservationOptions
    /// What Observations are compatible with.
    package var compatibility = Compatibility.none
    /// Whether nothing is kept on disk.
    package var keepsNothing: Bool
}

/// What is wrong with a sink.
package struct SinkFinding: Sendable {
    /// How bad it is.
    package var severity: Diagnostic.Severity
    /// The setting of the kind that is at fault; nil for the place itself.
    package var key: String?
    /// The setting of the whole pipeline that is at fault, where it is stated.
    package var pipelineKey: String?
    /// What is wrong.
    package var message: String
    /// What to do.
    package var advice: String

    /// A finding.
    package init(
        _ severity: Diagnostic.Severity, key: String? = nil, pipelineKey: String? = nil, _ message: String,
        advice: String = ""
    ) {
        self.severity = severity
        self.key = key
        self.pipelineKey = pipelineKey
        self.message = message
        self.advice = advice
    }
}
