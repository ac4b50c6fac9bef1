"""OpenCL's constants under pyopencl's names."""

__all__ = [
    "command_execution_status",
    "command_queue_info",
    "command_queue_properties",
    "command_type",
    "context_info",
    "context_properties",
    "device_exec_capabilities",
    "device_fp_config",
    "device_info",
    "device_local_mem_type",
    "device_mem_cache_type",
    "device_type",
    "event_info",
    "kernel_arg_access_qualifier",
    "kernel_arg_address_qualifier",
    "kernel_arg_info",
    "kernel_arg_type_qualifier",
    "kernel_info",
    "kernel_work_group_info",
    "map_flags",
    "mem_flags",
    "mem_info",
    "mem_migration_flags",
    "mem_object_type",
    "platform_info",
    "profiling_info",
    "program_build_info",
    "program_info",
    "status_code",
]


class _Constants:
    """A class whose upper-case members are numbers."""

    @classmethod
    def to_string(cls, value: int) -> str:
        """The name of ``value``, or the number as text."""
        return next((name for name, number in vars(cls).items() if name.isupper() and number == value), str(value))


class map_flags(_Constants):
    """How a buffer is mapped (``cl_map_flags``); bits that can be joined."""

    READ = 1 << 0
    WRITE = 1 << 1
    WRITE_INVALIDATE_REGION = 1 << 2


class mem_flags(_Constants):
    """How the kernel and the host use a buffer (``cl_mem_flags``); bits that can be joined."""

    READ_WRITE = 1 << 0
    WRITE_ONLY = 1 << 1
    READ_ONLY = 1 << 2
    USE_HOST_PTR = 1 << 3
    ALLOC_HOST_PTR = 1 << 4
    COPY_HOST_PTR = 1 << 5
    HOST_WRITE_ONLY = 1 << 7
    HOST_READ_ONLY = 1 << 8
    HOST_NO_ACCESS = 1 << 9
    # the bank of a non-interleaved memory that a buffer is allocated in, counted from 1; 0 leaves it to the board
    CHANNEL_AUTO_INTELFPGA = 0
    CHANNEL_1_INTELFPGA = MEM_BANK_1_ALTERA = 1 << 16
    CHANNEL_2_INTELFPGA = MEM_BANK_2_ALTERA = 2 << 16
    CHANNEL_3_INTELFPGA = MEM_BANK_3_ALTERA = 3 << 16
    CHANNEL_4_INTELFPGA = MEM_BANK_4_ALTERA = 4 << 16
    CHANNEL_5_INTELFPGA = MEM_BANK_5_ALTERA = 5 << 16
    CHANNEL_6_INTELFPGA = MEM_BANK_6_ALTERA = 6 << 16
    CHANNEL_7_INTELFPGA = MEM_BANK_7_ALTERA = 7 << 16


class status_code(_Constants):
    """Error codes of the API, all negative but SUCCESS."""

    SUCCESS = 0
    DEVICE_NOT_FOUND = -1
    DEVICE_NOT_AVAILABLE = -2
    COMPILER_NOT_AVAILABLE = -3
    MEM_OBJECT_ALLOCATION_FAILURE = -4
    OUT_OF_RESOURCES = -5
    OUT_OF_HOST_MEMORY = -6
    PROFILING_INFO_NOT_AVAILABLE = -7
    MEM_COPY_OVERLAP = -8
    BUILD_PROGRAM_FAILURE = -11
    MISALIGNED_SUB_BUFFER_OFFSET = -13
    EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14
    INVALID_VALUE = -30
    INVALID_DEVICE_TYPE = -31
    INVALID_PLATFORM = -32
    INVALID_DEVICE = -33
    INVALID_CONTEXT = -34
    INVALID_QUEUE_PROPERTIES = -35
    INVALID_COMMAND_QUEUE = -36
    INVALID_HOST_PTR = -37
    INVALID_MEM_OBJECT = -38
    INVALID_BINARY = -42
    INVALID_BUILD_OPTIONS = -43
    INVALID_PROGRAM = -44
    INVALID_PROGRAM_EXECUTABLE = -45
    INVALID_KERNEL_NAME = -46
    INVALID_KERNEL = -48
    INVALID_ARG_INDEX = -49
    INVALID_ARG_VALUE = -50
    INVALID_ARG_SIZE = -51
    INVALID_KERNEL_ARGS = -52
    INVALID_WORK_DIMENSION = -53
    INVALID_WORK_GROUP_SIZE = -54
    INVALID_WORK_ITEM_SIZE = -55
    INVALID_GLOBAL_OFFSET = -56
    INVALID_EVENT_WAIT_LIST = -57
    INVALID_EVENT = -58
    INVALID_OPERATION = -59
    INVALID_BUFFER_SIZE = -61
    INVALID_GLOBAL_WORK_SIZE = -63


class command_execution_status(_Constants):
    """How far a command has got; a negative number is the error it ended with."""

    COMPLETE = 0
    RUNNING = 1
    SUBMITTED = 2
    QUEUED = 3


class command_type(_Constants):
    """What a queued command does (``cl_command_type``)."""

    NDRANGE_KERNEL = 0x11F0
    TASK = 0x11F1
    READ_BUFFER = 0x11F3
    WRITE_BUFFER = 0x11F4
    COPY_BUFFER = 0x11F5
    MAP_BUFFER = 0x11FB
    UNMAP_MEM_OBJECT = 0x11FD
    MARKER = 0x11FE
    READ_BUFFER_RECT = 0x1201
    WRITE_BUFFER_RECT = 0x1202
    COPY_BUFFER_RECT = 0x1203
    USER = 0x1204
    BARRIER = 0x1205
    MIGRATE_MEM_OBJECTS = 0x1206
    FILL_BUFFER = 0x1207


class event_info(_Constants):
    """What ``Event.get_info`` answers."""

    COMMAND_QUEUE = 0x11D0
    COMMAND_TYPE = 0x11D1
    REFERENCE_COUNT = 0x11D2
    COMMAND_EXECUTION_STATUS = 0x11D3
    CONTEXT = 0x11D4


class command_queue_info(_Constants):
    """What ``CommandQueue.get_info`` answers."""

    CONTEXT = 0x1090
    DEVICE = 0x1091
    REFERENCE_COUNT = 0x1092
    PROPERTIES = 0x1093


class command_queue_properties(_Constants):
    """Properties of a queue; bits that can be joined."""

    OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0
    PROFILING_ENABLE = 1 << 1


class device_type(_Constants):
    """Kinds of devices; bits that can be joined."""

    DEFAULT = 1 << 0
    CPU = 1 << 1
    GPU = 1 << 2
    ACCELERATOR = 1 << 3
    CUSTOM = 1 << 4
    ALL = 0xFFFFFFFF


class profiling_info(_Constants):
    """The times, in ns, that ``Event.get_profiling_info`` answers."""

    QUEUED = 0x1280
    SUBMIT = 0x1281
    START = 0x1282
    END = 0x1283
    COMPLETE = 0x1284


class device_info(_Constants):
    """What ``Device.get_info`` answers."""

    TYPE = 0x1000
    VENDOR_ID = 0x1001
    MAX_COMPUTE_UNITS = 0x1002
    MAX_WORK_ITEM_DIMENSIONS = 0x1003
    MAX_WORK_GROUP_SIZE = 0x1004
    MAX_WORK_ITEM_SIZES = 0x1005
    PREFERRED_VECTOR_WIDTH_CHAR = 0x1006
    PREFERRED_VECTOR_WIDTH_SHORT = 0x1007
    PREFERRED_VECTOR_WIDTH_INT = 0x1008
    PREFERRED_VECTOR_WIDTH_LONG = 0x1009
    PREFERRED_VECTOR_WIDTH_FLOAT = 0x100A
    PREFERRED_VECTOR_WIDTH_DOUBLE = 0x100B
    MAX_CLOCK_FREQUENCY = 0x100C
    ADDRESS_BITS = 0x100D
    MAX_MEM_ALLOC_SIZE = 0x1010
    MAX_READ_IMAGE_ARGS = 0x100E
    MAX_WRITE_IMAGE_ARGS = 0x100F
    IMAGE2D_MAX_WIDTH = 0x1011
    IMAGE2D_MAX_HEIGHT = 0x1012
    IMAGE3D_MAX_WIDTH = 0x1013
    IMAGE3D_MAX_HEIGHT = 0x1014
    IMAGE3D_MAX_DEPTH = 0x1015
    IMAGE_SUPPORT = 0x1016
    MAX_PARAMETER_SIZE = 0x1017
    MAX_SAMPLERS = 0x1018
    MEM_BASE_ADDR_ALIGN = 0x1019
    MIN_DATA_TYPE_ALIGN_SIZE = 0x101A
    SINGLE_FP_CONFIG = 0x101B
    GLOBAL_MEM_CACHE_TYPE = 0x101C
    GLOBAL_MEM_CACHELINE_SIZE = 0x101D
    GLOBAL_MEM_CACHE_SIZE = 0x101E
    GLOBAL_MEM_SIZE = 0x101F
    MAX_CONSTANT_BUFFER_SIZE = 0x1020
    MAX_CONSTANT_ARGS = 0x1021
    LOCAL_MEM_TYPE = 0x1022
    LOCAL_MEM_SIZE = 0x1023
    ERROR_CORRECTION_SUPPORT = 0x1024
    PROFILING_TIMER_RESOLUTION = 0x1025
    ENDIAN_LITTLE = 0x1026
    AVAILABLE = 0x1027
    COMPILER_AVAILABLE = 0x1028
    EXECUTION_CAPABILITIES = 0x1029
    QUEUE_PROPERTIES = 0x102A
    NAME = 0x102B
    VENDOR = 0x102C
    DRIVER_VERSION = 0x102D
    PROFILE = 0x102E
    VERSION = 0x102F
    EXTENSIONS = 0x1030
    PLATFORM = 0x1031
    DOUBLE_FP_CONFIG = 0x1032
    HALF_FP_CONFIG = 0x1033
    PREFERRED_VECTOR_WIDTH_HALF = 0x1034
    HOST_UNIFIED_MEMORY = 0x1035
    NATIVE_VECTOR_WIDTH_CHAR = 0x1036
    NATIVE_VECTOR_WIDTH_SHORT = 0x1037
    NATIVE_VECTOR_WIDTH_INT = 0x1038
    NATIVE_VECTOR_WIDTH_LONG = 0x1039
    NATIVE_VECTOR_WIDTH_FLOAT = 0x103A
    NATIVE_VECTOR_WIDTH_DOUBLE = 0x103B
    NATIVE_VECTOR_WIDTH_HALF = 0x103C
    OPENCL_C_VERSION = 0x103D
    LINKER_AVAILABLE = 0x103E
    BUILT_IN_KERNELS = 0x103F
    PARENT_DEVICE = 0x1042
    PARTITION_MAX_SUB_DEVICES = 0x1043
    REFERENCE_COUNT = 0x1047
    PREFERRED_INTEROP_USER_SYNC = 0x1048
    PRINTF_BUFFER_SIZE = 0x1049


class device_fp_config(_Constants):
    """Abilities of a device with floats of one format; bits that can be joined."""

    DENORM = 1 << 0
    INF_NAN = 1 << 1
    ROUND_TO_NEAREST = 1 << 2
    ROUND_TO_ZERO = 1 << 3
    ROUND_TO_INF = 1 << 4
    FMA = 1 << 5


class device_mem_cache_type(_Constants):
    """Kinds of caches in front of global memory."""

    NONE = 0
    READ_ONLY_CACHE = 1
    READ_WRITE_CACHE = 2


class device_exec_capabilities(_Constants):
    """What a device can run; bits that can be joined."""

    KERNEL = 1 << 0
    NATIVE_KERNEL = 1 << 1


class device_local_mem_type(_Constants):
    """Where local memory lies."""

    LOCAL = 1


class platform_info(_Constants):
    """What ``Platform.get_info`` answers."""

    PROFILE = 0x0900
    VERSION = 0x0901
    NAME = 0x0902
    VENDOR = 0x0903
    EXTENSIONS = 0x0904


class context_properties(_Constants):
    """Keys of the properties with which a context is made."""

    PLATFORM = 0x1084


class context_info(_Constants):
    """What ``Context.get_info`` answers."""

    REFERENCE_COUNT = 0x1080
    DEVICES = 0x1081
    PROPERTIES = 0x1082
    NUM_DEVICES = 0x1083


class mem_info(_Constants):
    """What ``Buffer.get_info`` answers."""

    TYPE = 0x1100
    FLAGS = 0x1101
    SIZE = 0x1102
    HOST_PTR = 0x1103
    MAP_COUNT = 0x1104
    REFERENCE_COUNT = 0x1105
    CONTEXT = 0x1106
    ASSOCIATED_MEMOBJECT = 0x1107
    OFFSET = 0x1108


class mem_object_type(_Constants):
    """Kinds of memory objects."""

    BUFFER = 0x10F0
    PIPE = 0x10F7


class mem_migration_flags(_Constants):
    """Where a buffer is moved, and whether with its contents; bits that can be joined."""

    HOST = 1 << 0
    CONTENT_UNDEFINED = 1 << 1


class program_info(_Constants):
    """What ``Program.get_info`` answers."""

    REFERENCE_COUNT = 0x1160
    CONTEXT = 0x1161
    NUM_DEVICES = 0x1162
    DEVICES = 0x1163
    SOURCE = 0x1164
    BINARY_SIZES = 0x1165
    BINARIES = 0x1166
    NUM_KERNELS = 0x1167
    KERNEL_NAMES = 0x1168


class kernel_info(_Constants):
    """What ``Kernel.get_info`` answers."""

    FUNCTION_NAME = 0x1190
    NUM_ARGS = 0x1191
    REFERENCE_COUNT = 0x1192
    CONTEXT = 0x1193
    PROGRAM = 0x1194
    ATTRIBUTES = 0x1195


class kernel_arg_info(_Constants):
    """What ``Kernel.get_arg_info`` answers."""

    ADDRESS_QUALIFIER = 0x1196
    ACCESS_QUALIFIER = 0x1197
    TYPE_NAME = 0x1198
    TYPE_QUALIFIER = 0x1199
    NAME = 0x119A


class kernel_arg_address_qualifier(_Constants):
    """Address spaces of arguments."""

    GLOBAL = 0x119B
    LOCAL = 0x119C
    CONSTANT = 0x119D
    PRIVATE = 0x119E


class kernel_arg_access_qualifier(_Constants):
    """How a kernel accesses an argument that is an image or a pipe."""

    READ_ONLY = 0x11A0
    WRITE_ONLY = 0x11A1
    READ_WRITE = 0x11A2
    NONE = 0x11A3


class kernel_arg_type_qualifier(_Constants):
    """Qualifiers of an argument; bits that can be joined."""

    NONE = 0
    CONST = 1 << 0
    RESTRICT = 1 << 1
    VOLATILE = 1 << 2
    PIPE = 1 << 3


class kernel_work_group_info(_Constants):
    """What ``Kernel.get_work_group_info`` answers."""

    WORK_GROUP_SIZE = 0x11B0
    COMPILE_WORK_GROUP_SIZE = 0x11B1
    LOCAL_MEM_SIZE = 0x11B2
    PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x11B3
    PRIVATE_MEM_SIZE = 0x11B4


class program_build_info(_Constants):
    """What ``Program.get_build_info`` answers."""

    STATUS = 0x1181
    OPTIONS = 0x1182
    LOG = 0x1183
    GLOBAL_VARIABLE_TOTAL_SIZE = 0x1185
