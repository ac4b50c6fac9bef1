// Command queues.
#pragma once
#include "event.h"

namespace sluice {

class Queue : public Object, public std::enable_shared_from_this<Queue> {
 public:
  SLUICE_HANDLE(cl_command_queue, CL_INVALID_COMMAND_QUEUE, "command queue");
  ~Queue() override;

  std::shared_ptr<Context> context;
  std::shared_ptr<Device> device;
  size_t place = 0;  ///< of the device in its context
  int64_t id = 0;
  cl_command_queue_properties properties = 0;
  std::vector<cl_queue_properties> given;  ///< as the host gave them

  bool in_order() const { return !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE); }

  /// The commands that the next one is behind; all that have not ended for one that `gathers` them.
  std::vector<std::shared_ptr<Event>> before(bool gathers);
  /// A command was queued; later ones wait for it if the queue keeps the order, or if it `separates`.
  void note(const std::shared_ptr<Event>& event, bool separates);
  /// The commands that have not ended.
  std::vector<std::shared_ptr<Event>> unfinished();
  /// Waits for all of them. Throws Refused if one failed since the last call.
  void finish();

  // ---- under context->state
  cl_int failure = CL_SUCCESS;  ///< of the first command that failed and was not reported
  std::string reason;
  const Event* culprit = nullptr;  ///< that command

  std::mutex order;  ///< held while a command finds its place

 private:
  void forget_ended();
  std::vector<std::shared_ptr<Event>> unfinished_;
  std::shared_ptr<Event> separator_;
};

/// What an enqueue call says of its command.
struct Enqueue {
  std::shared_ptr<Queue> queue;
  cl_uint wait_count;
  const cl_event* wait_list;
  cl_event* event;  ///< where the host wants the event; may be null
  cl_command_type type;
  bool blocking = false;
  bool gathers = false;    ///< waits for all commands of the queue before it
  bool separates = false;  ///< all commands of the queue behind it wait for it

  /// Queues the command; waits for it if it blocks. Throws Refused.
  void operator()(Place place, std::function<void(Event&, cl_ulong)> work) const;
};

}  // namespace sluice
