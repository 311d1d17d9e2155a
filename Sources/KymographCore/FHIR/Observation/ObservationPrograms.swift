/// The compiled templates of all types, by which Observations and other resources are written.
struct ObservationPrograms: ~Copyable, Sendable {
    /// Makes the programs of templates, one per type (nil for a type without).
    typealias Compiler = @Sendable ([MeasurementType], [FHIRTemplate?], ObservationOptions) -> ObservationPrograms

    /// Constant bytes, padded.
    var constants: ByteWriter
    var steps: RawArray<ProgramStep>
    var fields: RawArray<ProgramField>
    var types: RawArray<TypeProgram>
    var tables: ProgramTables
    var resources: RawArray<ResourceProgram>
    var resourceSteps: RawArray<ResourceStep>
    var summaries: RawArray<GlucoseSummaryProgram>
}
