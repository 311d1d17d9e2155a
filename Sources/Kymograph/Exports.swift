@_exported public import KymographCore
