/// The compiled templates of all types, by which Observations and other resources are written.
package struct ObservationPrograms: ~Copyable, Sendable {
    /// Makes the programs of templates, one per type (nil for a type without).
    package typealias Compiler =
        @Sendable ([MeasurementType], [FHIRTemplate?], ObservationOptions) -> ObservationPrograms

    /// Constant bytes, padded.
    var constants: ByteWriter
    var steps: RawArray<ProgramStep>
    var fields: RawArray<ProgramField>
    var types: RawArray<TypeProgram>
    var tables: ProgramTables
    var resources: RawArray<ResourceProgram>
    var resourceSteps: RawArray<ResourceStep>
    var summaries: RawArray<GlucoseSummaryProgram>
    var attachments: RawArray<AttachmentProgram>

    package init(
        constants: consuming ByteWriter, steps: consuming RawArray<ProgramStep>,
        fields: consuming RawArray<ProgramField>, types: consuming RawArray<TypeProgram>,
        tables: consuming ProgramTables, resources: consuming RawArray<ResourceProgram>,
        resourceSteps: consuming RawArray<ResourceStep>, summaries: consuming RawArray<GlucoseSummaryProgram>,
        attachments: consuming RawArray<AttachmentProgram>
    ) {
        self.constants = constants
        self.steps = steps
        self.fields = fields
        self.types = types
        self.tables = tables
        self.resources = resources
        self.resourceSteps = resourceSteps
        self.summaries = summaries
        self.attachments = attachments
    }
}
